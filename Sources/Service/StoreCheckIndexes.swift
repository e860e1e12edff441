import Entitlements
import Storage

// Numbers, names, and everything that leads to something else.

extension StoreCheck {
    func checkMeta() {
        var headerCount = 0
        each(.meta) { key, value in
            let scopeName = Array("scope".utf8)
            if key.starts(with: Key.payloadHeaders) {
                if key.suffix(4).elementsEqual(RecordCodec.encode(UInt64(headerCount)).suffix(4)) {
                    headerCount += 1
                } else {
                    report(.meta, key, expected: "header \(headerCount)", found: "another one")
                }
            } else if key.starts(with: scopeName), key.count > scopeName.count + 1 {
                enterScope(key, value, nameOffset: scopeName.count)
            } else if key == Key.counts {
                _ = decoded(.meta, key) { () throws(StorageError) in
                    try RecordCodec.decodeCounts(value)
                }
            } else if Key.customer(ofErasure: key) != nil {
                _ = decoded(.meta, key) { () throws(StorageError) in
                    try RecordCodec.decodeRanges(value)
                }
            } else if [Key.revision, Key.nextCustomer, Key.nextScope, Key.forgottenCount]
                .contains(key)
                || key.starts(with: Array("mark".utf8)) && key.count == 7
            {
                let number = decoded(.meta, key) { () throws(StorageError) in
                    try RecordCodec.decodeNumber(value, in: .meta)
                }
                if key == Key.revision { revision = number ?? 0 }
            } else if key != Key.namedSnapshots {
                report(.meta, key, expected: "a known name", found: "another one")
            }
        }
    }

    private func enterScope(_ key: [UInt8], _ value: [UInt8], nameOffset: Int) {
        let number = decoded(.meta, key) { () throws(StorageError) in
            try RecordCodec.decodeNumber(value, in: .meta)
        }
        guard let number, let environment = AppEnvironment(rawValue: key[nameOffset]),
            let bundleID = text(of: key, from: nameOffset + 1, in: .meta)
        else {
            return report(.meta, key, expected: "the number of a world", found: "something else")
        }
        let scope = ScopeNumber(UInt16(truncatingIfNeeded: number))
        let world = Scope(bundleID: bundleID, environment: environment)
        guard number > 0, number <= UInt16.max, scopes.updateValue(world, forKey: scope) == nil
        else {
            return report(
                .meta, key, expected: "a number of its own", found: "number \(number)")
        }
    }

    /// Compares the counters with what was counted.
    func checkCounters() {
        let counters: LedgerCounters
        do throws(StorageError) {
            counters = try LedgerCounters.read(from: raw)
        } catch { return }
        for (key, expected, found) in [
            (Key.nextCustomer, max(lastCustomer + 1, counters.nextCustomer), counters.nextCustomer),
            (Key.counts, customerCount, counters.customerCount),
            (Key.counts, transactionCount, counters.transactionCount),
            (
                Key.forgottenCount, max(forgottenCount, counters.forgottenCount),
                counters.forgottenCount
            ),
        ] where expected != found {
            report(.meta, key, expected: "\(expected)", found: "\(found)")
        }
        let nextScope = value(Key.nextScope, in: .meta).map { Self.number($0) } ?? 1
        let lastScope = scopes.keys.map { UInt64($0.value) }.max() ?? 0
        if nextScope <= lastScope {
            report(
                .meta, Key.nextScope, expected: "more than \(lastScope)", found: "\(nextScope)")
        }
        if customerCount > 0, value(Key.namedSnapshots, in: .meta) == nil {
            report(.meta, Key.namedSnapshots, expected: "the mark", found: "no record")
        }
    }

    func checkIdentities() {
        each(.identities) { key, value in
            guard let scope = scope(of: key, in: .identities, byteCountMin: 4),
                let name = text(of: key, from: 3, in: .identities)
            else { return }
            guard let kind = IdentityKind(rawValue: key[2]) else {
                return report(
                    .identities, key, expected: "a kind of name", found: "kind \(key[2])")
            }
            let record = decoded(.identities, key) { () throws(StorageError) in
                try RecordCodec.decodeIdentity(value)
            }
            if let record { check(record, of: Identity(kind, name), key, scope) }
        }
    }

    private func check(
        _ identity: IdentityRecord, of name: Identity, _ key: [UInt8], _ scope: ScopeNumber
    ) {
        if identity.movedAt != 0 { checkRevision(identity.movedAt, .identities, key) }
        if identity.primary == 0
            || zip(identity.holders, identity.holders.dropFirst()).contains(
                where: { $0 >= $1 })
        {
            report(
                .identities, key, expected: "an owner, and holders in order", found: "\(identity)")
        }
        let numbers = identity.holders + [identity.said, identity.moved, identity.primary]
        for number in numbers where number != 0 && record(of: number, in: scope) == nil {
            report(.identities, key, expected: "customer \(number)", found: "no record of him")
        }
        switch name.kind {
        case .transaction:
            for number in identity.holders {
                let fact = Key.of(CustomerKey(scope: scope, number: number), name.value)
                if value(fact, in: .transactions) == nil {
                    report(.transactions, fact, expected: "the transaction", found: "no record")
                }
            }
        case .customer:
            let found = record(of: identity.primary, in: scope)?.name ?? ""
            if !isSame(found, name.value) {
                report(
                    .identities, key, expected: "a customer of this name",
                    found: "customer \(identity.primary)")
            }
        case .appAccountToken, .appTransaction, .originalTransaction: break
        }
        for number in [identity.said, identity.moved] where number != 0 && name.kind != .customer {
            let customer = CustomerKey(scope: scope, number: number)
            guard record(of: number, in: scope)?.mergedInto == 0 else { continue }
            let link = Key.link(customer, name)
            if value(link, in: .customers) == nil {
                report(.customers, link, expected: "what was said", found: "no record")
            }
        }
    }

    func checkHouseholds() {
        each(.households) { key, value in
            guard let scope = scope(of: key, in: .households, byteCountMin: 13) else { return }
            let number = Key.trailingNumber(of: key)
            guard
                let household = standing(number, in: scope, .households, key).flatMap({
                    record(of: $0.number, in: scope)?.household
                })
            else { return }
            if Key.member(number, of: household, in: scope) != key || !value.isEmpty {
                report(
                    .households, key, expected: "a member who is in this household",
                    found: household.isEmpty ? "he is in none" : "he is in another one")
            }
        }
    }

    /// That every snapshot is of somebody who stands for himself; what it says is compared with
    /// his facts.
    func checkSnapshotNames() {
        each(.snapshots) { key, _ in
            guard let scope = scope(of: key, in: .snapshots, byteCountMin: 4) else { return }
            if key[2] == UInt8.max {
                guard let name = text(of: key, from: 3, in: .snapshots) else { return }
                let number = record(of: Identity(.customer, name), in: scope)?.primary ?? 0
                let found = record(of: number, in: scope)
                if found?.mergedInto != 0 || found.map({ isSame($0.name, name) }) != true {
                    report(.snapshots, key, expected: "a customer of this name", found: "nobody")
                }
            } else if let customer = customer(of: key, in: .snapshots) {
                let isNamed = record(of: customer.number, in: scope)?.name.isEmpty == false
                if isNamed || key.count != Key.customerByteCount {
                    report(
                        .snapshots, key, expected: "a customer without a name", found: "another one"
                    )
                }
            }
        }
    }

    func checkNotifications() {
        each(.notifications) { key, value in
            guard let scope = scope(of: key, in: .notifications, byteCountMin: 4) else { return }
            switch key[2] {
            case UInt8(ascii: "u"):
                let revision = decoded(.notifications, key) { () throws(StorageError) in
                    try RecordCodec.decodeNumber(value, in: .notifications)
                }
                guard let revision, let uuid = text(of: key, from: 3, in: .notifications) else {
                    return
                }
                checkRevision(revision, .notifications, key)
                checkBody(of: revision, named: uuid, scope)
            case UInt8(ascii: "r") where key.count == 11:
                check(value, .notifications, key, revision: Key.trailingNumber(of: key), scope)
            default:
                report(.notifications, key, expected: "u or r", found: "kind \(key[2])")
            }
        }
    }

    private func checkBody(of revision: UInt64, named uuid: String, _ scope: ScopeNumber) {
        let key = Key.payload(.notification(revision: revision), in: scope)
        if value(key, in: .payloads) == nil {
            report(
                .payloads, key, expected: "the notification \(uuid)", found: "no record")
        }
    }

    /// The record of a notification, wherever it stands.
    private func check(
        _ value: [UInt8], _ keyspace: Keyspace, _ key: [UInt8], revision: UInt64,
        _ scope: ScopeNumber
    ) {
        let record = decoded(keyspace, key) { () throws(StorageError) in
            try RecordCodec.decodeNotification(value)
        }
        guard let record else { return }
        checkRevision(revision, keyspace, key)
        if record.revision != revision {
            report(
                keyspace, key, expected: "revision \(revision)", found: "\(record.revision)")
        }
        checkUUID(record.notificationUUID, leadsTo: revision, scope)
    }

    /// Whether the notification of an id is found by it.
    func checkUUID(_ uuid: String, leadsTo revision: UInt64, _ scope: ScopeNumber) {
        let key = Key.notification(uuid: uuid, in: scope)
        let found = value(key, in: .notifications)
        if found != RecordCodec.encode(revision) {
            report(
                .notifications, key, expected: "revision \(revision)",
                found: found.map { "\(Self.number($0))" } ?? "no record")
        }
    }

    func checkHistory() {
        each(.history) { key, value in
            guard let customer = customer(of: key, in: .history) else { return }
            guard key.count == Key.customerByteCount + 8 else {
                return report(
                    .history, key, expected: "a key of 18 bytes", found: "\(key.count) bytes")
            }
            let revision = Key.trailingNumber(of: key)
            checkRevision(revision, .history, key)
            if !value.isEmpty { check(value, .history, key, revision: revision, customer.scope) }
        }
    }

    func checkAudit() {
        var last: (revision: UInt64, index: Int) = (0, 0)
        each(.audit) { key, value in
            guard key.count == 10 else {
                return report(
                    .audit, key, expected: "a key of 10 bytes", found: "\(key.count) bytes")
            }
            let revision = Self.number(key.prefix(8))
            let index = Int(Self.number(key.suffix(2)))
            checkRevision(revision, .audit, key)
            let expected = revision == last.revision ? last.index + 1 : 0
            if index != expected {
                report(.audit, key, expected: "entry \(expected)", found: "entry \(index)")
            }
            last = (revision, index)
            _ = decoded(.audit, key) { () throws(StorageError) in
                try RecordCodec.decodeAudit(value)
            }
        }
    }

    func checkRefreshes() {
        each(.refreshes) { key, value in
            guard let scope = scope(of: key, in: .refreshes, byteCountMin: 11),
                standing(Self.number(key.dropFirst(3)), in: scope, .refreshes, key) != nil
            else { return }
            switch key[2] {
            case UInt8(ascii: "q"):
                let job = decoded(.refreshes, key) { () throws(StorageError) in
                    try RecordCodec.decodeRefresh(value)
                }
                if let job, job.revision > revision {
                    checkRevision(job.revision, .refreshes, key)
                }
            case UInt8(ascii: "d"):
                _ = decoded(.refreshes, key) { () throws(StorageError) in
                    try RecordCodec.decodeInstant(value, in: .refreshes)
                }
            default:
                report(.refreshes, key, expected: "q or d", found: "kind \(key[2])")
            }
        }
    }

    /// That every candidate is a transaction that is there; what stands in it is compared from the
    /// transaction's side.
    func checkMatches() {
        each(.matches) { key, value in
            guard let scope = scope(of: key, in: .matches, byteCountMin: 30) else { return }
            let lengthOffset = Key.matchDatesByteCount
            let productEnd =
                lengthOffset + 2 + Int(Self.number(key[lengthOffset..<lengthOffset + 2]))
            let candidate = decoded(.matches, key) { () throws(StorageError) in
                try RecordCodec.decodeMatch(key: key, prefixByteCount: productEnd, value: value)
            }
            guard let candidate else { return }
            let customer = CustomerKey(scope: scope, number: candidate.customer)
            let factKey = Key.of(customer, candidate.transactionID)
            let fact = (try? raw.value(for: factKey, in: .transactions)).flatMap(\.self)
                .flatMap { try? RecordCodec.decodeTransaction($0) }
            let place = MatchPlace(fact, of: customer)
            let expected = place.map {
                Key.match($0.candidate, of: $0.group.family, in: $0.group.scope)
            }
            if expected != key {
                report(
                    .matches, key, expected: "a transaction of these dates",
                    found: fact == nil ? "none" : "another one")
            }
        }
    }

    func checkUsage() {
        each(.usage) { key, value in
            guard let scope = scope(of: key, in: .usage, byteCountMin: 9) else { return }
            _ = decoded(.usage, key) { () throws(StorageError) in
                try RecordCodec.decodeUsage(value)
            }
            let id = Array(key[4..<key.count - 4])
            guard Key.usage(id, on: Key.day(ofUsage: key), in: scope) == key,
                let name = String(validating: id, as: UTF8.self)
            else {
                return report(
                    .usage, key, expected: "a transaction and a day", found: "another key")
            }
            if record(of: Identity(.transaction, name), in: scope) == nil {
                report(.usage, key, expected: "a transaction that is known", found: "\(name)")
            }
        }
    }

    /// That every end of access is of a transaction that has ended so; which are missing is found
    /// from the facts.
    func checkRefunds() {
        var last: (customer: CustomerKey, fold: Fold)?
        each(.refunds) { key, value in
            guard let scope = scope(of: key, in: .refunds, byteCountMin: 19) else { return }
            let position = decoded(.refunds, key) { () throws(StorageError) in
                try Key.position(ofRefund: key)
            }
            let record = decoded(.refunds, key) { () throws(StorageError) in
                try RecordCodec.decodeRefund(value)
            }
            guard let position, record != nil,
                let customer = standing(position.customer.number, in: scope, .refunds, key)
            else { return }
            if last?.customer != customer {
                guard let fold = fold(of: customer) else { return }
                last = (customer, fold)
            }
            let ended = last?.fold.endings[ExactName(position.transactionID)]
            if ended?.instant != position.instant {
                report(
                    .refunds, key,
                    expected: ended.map { "an end at \($0.instant.milliseconds)" } ?? "no end",
                    found: "one at \(position.instant.milliseconds)")
            }
        }
    }
}
