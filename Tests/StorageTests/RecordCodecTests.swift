import Entitlements
import Storage
import Testing

@Suite struct RecordCodecTests {
    static let scope = Scope(bundleID: "com.example.meadow", environment: .production)

    static var fullFact: TransactionFact {
        var transaction = Transaction(
            transactionID: "504319184420155588", originalTransactionID: "504319184420155587",
            productID: "meadow.plus.year", rawType: "Auto-Renewable Subscription",
            rawOwnership: "FAMILY_SHARED", purchaseDate: Timestamp(milliseconds: -1),
            signedDate: Timestamp(milliseconds: .max))
        transaction.expiresDate = Timestamp(milliseconds: 2)
        transaction.revocationDate = Timestamp(milliseconds: .min)
        transaction.revocationReason = -7
        transaction.revocationType = "FAMILY_REVOKE"
        transaction.revocationPercentage = 100_000
        transaction.isUpgraded = true
        transaction.appAccountToken = "5b1f0c9e"
        transaction.appTransactionID = "7049"
        transaction.webOrderLineItemID = "9\u{0}9"
        transaction.subscriptionGroupID = "é"
        transaction.price = 4_999_000_000
        transaction.currency = "VND"
        var evidence = Evidence()
        evidence.datelessRevoke = Timestamp(milliseconds: 1)
        evidence.grantNotification = Timestamp(milliseconds: 2)
        evidence.activeStatus = Timestamp(milliseconds: 3)
        evidence.datedCopy = Timestamp(milliseconds: 4)
        return TransactionFact(transaction: transaction, evidence: evidence)
    }

    static var bareFact: TransactionFact {
        TransactionFact(
            transaction: Transaction(
                transactionID: "1", originalTransactionID: "1", productID: "", rawType: "",
                rawOwnership: "", purchaseDate: nil, signedDate: Timestamp(milliseconds: 0)))
    }

    static var fullRenewal: RenewalInfo {
        var renewal = RenewalInfo(
            originalTransactionID: "1", signedDate: Timestamp(milliseconds: 5))
        renewal.productID = "a"
        renewal.autoRenewStatus = 1
        renewal.autoRenewProductID = "b"
        renewal.isInBillingRetryPeriod = true
        renewal.gracePeriodExpiresDate = Timestamp(milliseconds: 6)
        renewal.renewalDate = Timestamp(milliseconds: 7)
        renewal.expirationIntent = 4
        return renewal
    }

    static var notification: NotificationRecord {
        var notification = Notification(
            notificationUUID: "u", type: "REVOKE", subtype: "", scope: scope)
        notification.status = 5
        return NotificationRecord(
            notification: notification, receivedAt: Timestamp(milliseconds: 9),
            disposition: .stale, revision: 12)
    }

    static let audit = AuditRecord(
        at: Timestamp(milliseconds: 3), action: "LINKED", customer: "ann", detail: "é")

    @Test(arguments: [fullFact, bareFact])
    func `a transaction comes back whole`(fact: TransactionFact) throws {
        #expect(try RecordCodec.decodeTransaction(RecordCodec.encode(fact)) == fact)
    }

    /// One optional field at a time: a field read into another's place would not come back.
    @Test func `each optional field comes back in its own place`() throws {
        let full = Self.fullFact.transaction
        let changes: [(inout Transaction) -> Void] = [
            { $0.expiresDate = full.expiresDate }, { $0.revocationDate = full.revocationDate },
            { $0.revocationReason = 1 }, { $0.revocationType = "x" },
            { $0.revocationPercentage = 2 }, { $0.appAccountToken = "x" },
            { $0.appTransactionID = "x" }, { $0.webOrderLineItemID = "x" },
            { $0.subscriptionGroupID = "x" }, { $0.price = 3 }, { $0.currency = "x" },
            { $0.purchaseDate = full.purchaseDate }, { $0.isUpgraded = true },
        ]
        var seen: Set<[UInt8]> = []
        for change in changes {
            var fact = Self.bareFact
            change(&fact.transaction)
            let bytes = RecordCodec.encode(fact)
            #expect(try RecordCodec.decodeTransaction(bytes) == fact)
            #expect(seen.insert(bytes).inserted)
        }
    }

    @Test func `where a signed copy lies comes back, matched or not`() throws {
        let matched = MatchedPurchase(transactionID: "7", kind: .likely, refund: nil)
        for purchase in [nil, matched] {
            var fact = Self.fullFact
            fact.matched = purchase
            let plain = RecordCodec.encode(fact)
            fact.payloadRevision = .max - 3
            let bytes = RecordCodec.encode(fact)
            #expect(bytes.count == plain.count + 8)
            #expect(try RecordCodec.decodeTransaction(bytes) == fact)
            let row = RecordCodec.locate(in: bytes.span, from: 0)
            #expect(row?.isMatched == (purchase != nil))
            #expect(row?.record == 0..<bytes.count)
        }
        var renewal = Self.fullRenewal
        renewal.payloadRevision = 9
        #expect(try RecordCodec.decodeRenewal(RecordCodec.encode(renewal)) == renewal)
    }

    @Test func `renewal info comes back whole`() throws {
        let bare = RenewalInfo(originalTransactionID: "1", signedDate: Timestamp(milliseconds: 0))
        for renewal in [Self.fullRenewal, bare] {
            #expect(try RecordCodec.decodeRenewal(RecordCodec.encode(renewal)) == renewal)
        }
    }

    @Test func `identities, customers, notifications and audit entries come back whole`() throws {
        for record in [
            IdentityRecord(), IdentityRecord(said: 1, primary: 2, holders: [3, .max]),
        ] {
            #expect(try RecordCodec.decodeIdentity(RecordCodec.encode(record)) == record)
        }
        let customer = CustomerRecord(name: "ann", household: "h", mergedInto: 3, revision: .max)
        #expect(try RecordCodec.decodeCustomer(RecordCodec.encode(customer)) == customer)
        let notification = Self.notification
        #expect(
            try RecordCodec.decodeNotification(RecordCodec.encode(notification)) == notification)
        #expect(try RecordCodec.decodeAudit(RecordCodec.encode(Self.audit)) == Self.audit)
        let counts = try RecordCodec.decodeCounts(
            RecordCodec.encode(customers: 5, transactions: .max))
        #expect(counts.customers == 5 && counts.transactions == .max)
        #expect(try RecordCodec.decodeNumber(RecordCodec.encode(7), in: .meta) == 7)
    }

    @Test(arguments: [7, 9, 0])
    func `a number of another width is refused`(count: Int) {
        let bytes = [UInt8](repeating: 0, count: count)
        #expect(throws: StorageError.self) { try RecordCodec.decodeNumber(bytes, in: .meta) }
        #expect(throws: StorageError.self) { try RecordCodec.decodeCounts(bytes + bytes) }
    }

    /// The decoders, each with a record that it accepts.
    private static var decoders: [(String, [UInt8], ([UInt8]) throws -> Void)] {
        [
            (
                "transaction", RecordCodec.encode(fullFact),
                { _ = try RecordCodec.decodeTransaction($0) }
            ),
            ("renewal", RecordCodec.encode(fullRenewal), { _ = try RecordCodec.decodeRenewal($0) }),
            (
                "customer",
                RecordCodec.encode(CustomerRecord(name: "a", household: "h", mergedInto: 1)),
                { _ = try RecordCodec.decodeCustomer($0) }
            ),
            (
                "notification", RecordCodec.encode(notification),
                { _ = try RecordCodec.decodeNotification($0) }
            ),
            ("audit", RecordCodec.encode(audit), { _ = try RecordCodec.decodeAudit($0) }),
        ]
    }

    @Test func `every truncation, and a byte too many, is refused`() {
        for (name, bytes, decode) in Self.decoders {
            for count in 0..<bytes.count {
                #expect(throws: StorageError.self, "\(name) cut at \(count)") {
                    try decode(Array(bytes.prefix(count)))
                }
            }
            #expect(throws: StorageError.self, "\(name)") { try decode(bytes + [0]) }
        }
    }

    @Test func `another layout is refused, and the keyspace is named`() throws {
        for (name, bytes, decode) in Self.decoders {
            for layout: UInt8 in [0, 2, 255] {
                #expect(throws: StorageError.self, "\(name)") {
                    try decode([layout] + bytes.dropFirst())
                }
            }
        }
        do {
            _ = try RecordCodec.decodeRenewal([])
            Issue.record("an empty record decodes")
        } catch StorageError.corruptRecord(let keyspace, _) {
            #expect(keyspace == .renewals)
        }
    }

    @Test func `damaged bytes are refused or decoded, never a trap`() {
        var state: UInt64 = 42
        for (_, bytes, decode) in Self.decoders {
            for _ in 0..<2_000 {
                var damaged = bytes
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                damaged[Int((state >> 33) % UInt64(bytes.count))] = UInt8(
                    truncatingIfNeeded: state >> 20)
                do {
                    try decode(damaged)
                } catch {
                    #expect(error is StorageError)
                }
            }
        }
    }

    @Test func `an identity record of a broken length is refused`() {
        let bytes = RecordCodec.encode(IdentityRecord(said: 1, primary: 2, holders: [3]))
        for count in [0, 1, 16, bytes.count - 1] {
            #expect(throws: StorageError.self) {
                try RecordCodec.decodeIdentity(Array(bytes.prefix(count)))
            }
        }
    }
}

extension Notification {
    fileprivate init(notificationUUID: String, type: String, subtype: String, scope: Scope) {
        self.init(
            notificationUUID: notificationUUID, type: type, subtype: subtype,
            signedDate: Timestamp(milliseconds: 8), scope: scope)
    }
}
