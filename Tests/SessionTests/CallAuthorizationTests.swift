import Authorization
import Service
import Testing
import Wire

@testable import Session

@Suite struct CallAuthorizationTests {
    private let apps = [KeyApp(bundleID: "com.example.meadow", environment: 1)]

    private func reasons(_ guarded: GuardedBench) throws -> [String] {
        guarded.bench.work()
        return try guarded.bench.answers().sorted { $0.id < $1.id }.map(\.reason.description)
    }

    /// The same frames as one chunk and frame by frame: a run and a check that comes alone are
    /// judged by different code.
    private func send(_ frames: [[UInt8]], together: Bool, to guarded: GuardedBench) {
        if together { return guarded.bench.send(frames.flatMap(\.self)) }
        for frame in frames {
            guarded.bench.send(Array(frame.prefix(1)))
            guarded.bench.send(Array(frame.dropFirst()))
        }
    }

    @Test func `without a keys file nobody is asked`() throws {
        let bench = try SessionBench()
        var request = bench.check(.customerID("ann"), .product("p"))
        request.apiKey = "whatever"
        #expect(try bench.ask(request).reason.isEmpty)
    }

    @Test(arguments: CallMethod.allCases.filter { ![.getServerInfo, .other].contains($0) })
    func `a limited key may speak of no other app, whatever the call`(method: CallMethod) throws {
        let guarded = try GuardedBench()
        let key = guarded.add("k", .admin, apps: apps)
        let before = guarded.bench.service.revision
        for scope in [
            GuardedBench.scope(GuardedBench.other), GuardedBench.scope("com.example.meadow", 2),
        ] {
            let reason = try guarded.ask(try guarded.request(1, key, method, scope))
            #expect(reason == "APP_NOT_ALLOWED", "\(scope.bundleID)")
        }
        #expect(guarded.bench.service.revision == before)
        // A backup holds every app, and has no own one to name.
        if method == .createBackup { return }
        let own = GuardedBench.scope("com.example.meadow")
        let reason = try guarded.ask(try guarded.request(2, key, method, own))
        #expect(!["APP_NOT_ALLOWED", "ROLE_MISSING"].contains(reason) && !reason.hasPrefix("KEY_"))
    }

    @Test(
        arguments: CallMethod.allCases.filter {
            ![.getServerInfo, .other, .ingestNotification, .ingestTransactions].contains($0)
        })
    func `a limited key is not told which other apps there are`(method: CallMethod) throws {
        let guarded = try GuardedBench()
        let key = guarded.add("k", .admin, apps: apps)
        for scope in [
            GuardedBench.scope("com.example.nobody"), GuardedBench.scope(""),
            GuardedBench.scope("com.example.meadow", 77),
        ] {
            let reason = try guarded.ask(try guarded.request(1, key, method, scope))
            #expect(reason == "APP_NOT_ALLOWED")
        }
    }

    @Test func `the only app is meant by no name, and is the key's or not`() throws {
        let guarded = try GuardedBench(otherApps: [])
        let own = guarded.add("own", .check, apps: apps)
        let other = guarded.add("other", .check, apps: [KeyApp(bundleID: "com.example.other")])
        #expect(try guarded.ask(try guarded.request(1, own)) == "")
        #expect(try guarded.ask(try guarded.request(1, other)) == "APP_NOT_ALLOWED")
    }

    @Test func `a batch of one foreign check is refused whole`() throws {
        let guarded = try GuardedBench()
        let key = guarded.add("k", .check, apps: apps)
        guard
            case .checkAccess(let own) = try guarded.call(
                .checkAccess, GuardedBench.scope("com.example.meadow")),
            case .checkAccess(let other) = try guarded.call(
                .checkAccess, GuardedBench.scope(GuardedBench.other))
        else { return }
        for checks in [[own, other], [other, own], [own, own, other, own]] {
            var request = Request(id: 1, call: .checkAccessBatch(checks))
            request.apiKey = key
            #expect(try guarded.ask(request) == "APP_NOT_ALLOWED")
        }
    }

    @Test func `the server tells a limited caller of his apps only`() throws {
        let guarded = try GuardedBench()
        let all = guarded.add("all", .check)
        let some = guarded.add("some", .check, apps: apps)
        guarded.add("in", .ingest)
        guarded.bench.service.reader.counters.count(.overloaded)
        func info(_ key: Text) throws -> Message.GetServerInfoResponse? {
            let answer = try guarded.bench.ask(try guarded.request(1, key, .getServerInfo))
            guard case .getServerInfo(let info) = answer.result else { return nil }
            return info
        }
        var upload = try guarded.request(
            1, Text(GuardedBench.text("in")), .ingestTransactions,
            GuardedBench.scope(GuardedBench.other))
        upload.apiKey = Text(GuardedBench.text("in"))
        #expect(try guarded.ask(upload) == "")
        #expect(try info(all)?.scopes.count == 3)
        #expect(try info(all)?.customers == 1)
        #expect(try info(some)?.scopes.map(\.bundleID) == ["com.example.meadow"])
        #expect(try info(some)?.customers == 0 && info(some)?.transactions == 0)
    }

    @Test(arguments: [true, false])
    func `frames of many callers are each judged by their own key`(together: Bool) throws {
        let guarded = try GuardedBench { $0.inFlightCountMax = 5_000 }
        let keys: [(Text, String)] = [
            (guarded.add("a", .check), ""), (guarded.add("b", .ingest), "ROLE_MISSING"),
            (guarded.add("c", .check) { $0.isRevoked = true }, "KEY_REVOKED"),
            (guarded.add("d", .check) { $0.expires = SessionBench.now }, "KEY_EXPIRED"),
            (
                guarded.add("e", .check, apps: [KeyApp(bundleID: "com.example.other")]),
                "APP_NOT_ALLOWED"
            ),
            (guarded.add("f", .admin), ""), ("", "KEY_MISSING"),
        ]
        var generator = SeededGenerator(seed: 7)
        var (frames, expected): ([[UInt8]], [String]) = ([], [])
        var failureCount = 0
        for id in 1...100 as ClosedRange<UInt64> {
            // Long runs of one key, and quick changes.
            let index = Int.random(in: 0..<keys.count, using: &generator)
            for _ in 0..<(Bool.random(using: &generator) ? 1 : 5) {
                if keys[index].1.hasPrefix("KEY_") {
                    guard failureCount + 1 < Caller.failureCountMax else { continue }
                    failureCount += 1
                }
                frames.append(
                    try guarded.bench.frame(
                        try guarded.request(
                            id * 10 + UInt64(frames.count % 5), keys[index].0, .checkAccess,
                            GuardedBench.scope("com.example.meadow"))))
                expected.append(keys[index].1)
            }
        }
        #expect(frames.count > 100 && failureCount > 20)
        send(frames, together: together, to: guarded)
        let answers = try guarded.bench.answers().map(\.reason.description)
        #expect(answers == expected)
    }

    @Test(arguments: [true, false])
    func `a key that a run was begun with is not lent to the next frame`(together: Bool) throws {
        let guarded = try GuardedBench()
        let key = guarded.add("a", .check)
        let scope = GuardedBench.scope("com.example.meadow")
        var near = key
        near.bytes[near.bytes.count - 1] ^= 1
        var frames: [[UInt8]] = []
        for (id, key) in [key, key, near, key, "", key, Text(Array(key.bytes.dropLast())), key]
            .enumerated()
        {
            frames.append(
                try guarded.bench.frame(
                    try guarded.request(UInt64(id + 10), key, .checkAccess, scope)))
        }
        send(frames, together: together, to: guarded)
        #expect(
            try guarded.bench.answers().map(\.reason.description) == [
                "", "", "KEY_UNKNOWN", "", "KEY_MISSING", "", "KEY_UNKNOWN", "",
            ])
    }

    @Test(arguments: [true, false])
    func `a key is revoked and expires on connections that are open`(together: Bool) throws {
        let guarded = try GuardedBench()
        let key = guarded.add("a", .check) { $0.expires = SessionBench.now + 10 }
        let other = guarded.add("b", .check)
        let scope = GuardedBench.scope("com.example.meadow")
        func ask(_ key: Text) throws -> [String] {
            let frames = try (0..<3).map {
                try guarded.bench.frame(
                    try guarded.request(UInt64($0 + 1), key, .checkAccess, scope))
            }
            send(frames, together: together, to: guarded)
            return try guarded.bench.answers().map(\.reason.description)
        }
        #expect(try ask(key) == ["", "", ""])
        guarded.nowMilliseconds = SessionBench.now + 10
        #expect(try ask(key) == Array(repeating: "KEY_EXPIRED", count: 3))
        #expect(try ask(other) == ["", "", ""])
        guarded.revoke("b")
        #expect(try ask(other) == Array(repeating: "KEY_REVOKED", count: 3))
    }

    @Test func `a check that waited is judged when it is answered`() throws {
        let guarded = try GuardedBench()
        let key = guarded.add("a", .check)
        let ingest = guarded.add("b", .ingest)
        let scope = GuardedBench.scope("com.example.meadow")
        var request = try guarded.request(1, key, .checkAccess, scope)
        guard case .checkAccess(var check) = request.call else { return }
        check.minRevision = guarded.bench.service.revision + 1
        request.call = .checkAccess(check)
        try guarded.bench.send(request)
        #expect(try guarded.bench.answers().isEmpty)
        #expect(try guarded.ask(try guarded.request(2, ingest, .ingestTransactions, scope)) == "")
        // Nothing came in since: the keys are looked at because of the revision alone.
        guarded.revoke("a")
        guarded.bench.revisionMoved()
        #expect(try guarded.bench.answers().map(\.reason) == ["KEY_REVOKED"])
        // A caller who may not ask may not wait either.
        try guarded.bench.send(request)
        #expect(try guarded.bench.answers().map(\.reason) == ["KEY_REVOKED"])
    }

    @Test func `whoever fails too often is not listened to any more`() throws {
        for together in [true, false] {
            let guarded = try GuardedBench()
            let key = guarded.add("a", .check)
            let bad = try guarded.bench.frame(try guarded.request(1, "entk_a_x"))
            send(
                Array(repeating: bad, count: Caller.failureCountMax - 1), together: together,
                to: guarded)
            #expect(try guarded.bench.answers().count == Caller.failureCountMax - 1)
            #expect(guarded.bench.connection.step == .proceed(reads: true))
            send([bad], together: together, to: guarded)
            #expect(try guarded.bench.answers().map(\.reason) == ["KEY_UNKNOWN"])
            #expect(guarded.bench.connection.step == .endOutput)
            send(
                [try guarded.bench.frame(try guarded.request(2, key))], together: together,
                to: guarded)
            #expect(try guarded.bench.answers().isEmpty)
            #expect(guarded.board.shutOutCount == 1)
        }
    }
}

// MARK: - Strange encodings

extension CallAuthorizationTests {
    /// A length and the bytes, as a field of a message.
    private func field(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = bytes.count
        while rest >= 0x80 {
            length.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return [tag] + length + [UInt8(rest)] + bytes
    }

    private func reason(_ body: [UInt8], of guarded: GuardedBench) throws -> String {
        guarded.bench.send(framed(body))
        guarded.bench.work()
        return try guarded.bench.answers().map(\.reason.description).joined(separator: ",")
    }

    @Test func `of a key that is given twice the last counts, as for every field`() throws {
        let guarded = try GuardedBench(otherApps: [])
        let key = guarded.add("a", .check).bytes
        let check: [UInt8] = hex("52 08 0A 03 0A 01 61 12 01 70")
        let head: [UInt8] = [0x08, 0x01]
        let good = field(0x22, key)
        let bad = field(0x22, Array("entk_a_x".utf8))
        #expect(try reason(head + good + check, of: guarded) == "")
        #expect(try reason(head + bad + good + check, of: guarded) == "")
        #expect(try reason(head + good + bad + check, of: guarded) == "KEY_UNKNOWN")
        #expect(try reason(head + check + bad, of: guarded) == "KEY_UNKNOWN")
        #expect(try reason(head + check + good, of: guarded) == "")
        #expect(try reason(head + good + check + bad, of: guarded) == "KEY_UNKNOWN")
        #expect(try reason(head + good + check + field(0x22, []), of: guarded) == "KEY_MISSING")
        #expect(try reason(field(0x22, key) + check, of: guarded) == "")
        // As a field of another wire type it is no key.
        #expect(try reason(head + [0x20, 0x01] + check, of: guarded) != "")
    }

    @Test(arguments: [true, false])
    func `a key with more behind it is no key`(isUsual: Bool) throws {
        let guarded = try GuardedBench(otherApps: [])
        let key = guarded.add("a", .check).bytes
        // Behind the check, or twice, protobuf-c reads it; else the span codec does.
        let check: [UInt8] = hex("52 08 0A 03 0A 01 61 12 01 70")
        for bad in [
            key + [0], key + Array("\u{0}junk".utf8), [0] + key, key + key, key + [0xFF],
            [UInt8](repeating: 0x41, count: 500), [UInt8](repeating: 0x41, count: 1_000_000),
        ] {
            let body = isUsual ? field(0x22, bad) + check : check + field(0x22, bad)
            #expect(try reason(body, of: guarded) == "KEY_UNKNOWN")
        }
    }

    @Test func `frames like the one before but for their key are not taken for it`() throws {
        let guarded = try GuardedBench(otherApps: [])
        let key = guarded.add("a", .check).bytes
        var generator = SeededGenerator(seed: 3)
        for round in 0..<300 {
            var (bytes, expected): ([UInt8], [String]) = ([], [])
            for id in 0..<6 {
                var shown = key
                let isGood = Bool.random(using: &generator)
                if !isGood {
                    shown[Int.random(in: 0..<key.count, using: &generator)] ^= 1
                }
                let number = UInt8(1 + id + round % 100)
                // With and without a timeout in between, so that places of the same length differ.
                let middle: [UInt8] = Bool.random(using: &generator) ? [0x10, 0x64] : []
                bytes += framed(
                    [0x08, number] + middle + field(0x22, shown)
                        + hex("52 08 0A 03 0A 01 61 12 01 70"))
                expected.append(isGood ? "" : "KEY_UNKNOWN")
            }
            guarded.bench.connection = ClientConnection(limits: guarded.bench.limits)
            guarded.bench.send(bytes)
            #expect(try guarded.bench.answers().map(\.reason.description) == expected)
        }
    }

    @Test func `bytes of a key are no fields of a frame that has none`() throws {
        let guarded = try GuardedBench(otherApps: [])
        let key = guarded.add("a", .check).bytes
        let check = hex("52 08 0A 03 0A 01 61 12 01 70")
        // The first has no number, the second one where the first has the tag of its key: what
        // follows is the same, and means something else.
        let first = field(0x22, key) + check
        var second = first
        (second[0], second[1]) = (0x08, 0x01)
        guarded.bench.send(framed(first) + framed(second))
        let answers = try guarded.bench.answers()
        #expect(answers.first?.reason.isEmpty == true)
        #expect(answers.count < 2 || !answers[1].reason.isEmpty)
    }
}

// MARK: - The audit

extension CallAuthorizationTests {
    @Test func `an admin's call is written down with whom it was about and how it ended`() throws {
        let guarded = try GuardedBench()
        let key = guarded.add("a", .admin)
        let check = guarded.add("b", [.check, .ingest])
        guarded.bench.connection.peer = PeerIdentity(address: "10.0.0.9")
        let scope = GuardedBench.scope("com.example.meadow")
        var request = try guarded.request(5, key, .getCustomer, scope)
        request.traceparent = "00-trace"
        #expect(try guarded.ask(request) == "UNKNOWN_CUSTOMER")
        #expect(try guarded.ask(try guarded.request(6, key, .linkCustomer, scope)) == "")
        #expect(
            try guarded.ask(
                try guarded.request(7, key, .listCustomers, GuardedBench.scope("com.x")))
                == "UNKNOWN_SCOPE")
        // What is no admin's is not written.
        _ = try guarded.ask(try guarded.request(8, check, .checkAccess, scope))
        _ = try guarded.ask(try guarded.request(9, check, .ingestTransactions, scope))
        let entries = guarded.written.all
        #expect(entries.map(\.requestID) == [5, 6, 7])
        #expect(entries.map(\.method) == ["GetCustomer", "LinkCustomer", "ListCustomers"])
        #expect(entries.map(\.reason) == ["UNKNOWN_CUSTOMER", "", "UNKNOWN_SCOPE"])
        #expect(entries.map(\.code) == [5, 0, 3])
        #expect(entries.allSatisfy { $0.keyID == "a" && $0.keyName == "n-a" })
        #expect(entries.allSatisfy { $0.peer == "10.0.0.9" })
        #expect(entries[0].target == "customer:ann" && entries[0].traceparent == "00-trace")
        #expect(entries[0].app == "com.example.meadow:Production")
    }

    @Test func `whoever is refused is written down, a flood of it is counted`() throws {
        let guarded = try GuardedBench()
        let key = guarded.add("a", .check)
        for id in 1...20 as ClosedRange<UInt64> {
            let reason = try guarded.ask(try guarded.request(id, key, .linkCustomer))
            #expect(reason == "ROLE_MISSING")
        }
        #expect(guarded.written.all.count == DeniedBudget.countMax)
        #expect(guarded.written.all.allSatisfy { $0.reason == "ROLE_MISSING" && $0.code == 7 })
        guarded.nowMilliseconds += 1_000
        _ = try guarded.ask(try guarded.request(21, "x", .linkCustomer))
        #expect(guarded.written.all.last?.reason == "KEY_UNKNOWN")
        #expect(guarded.written.all.last?.keyID == "")
    }

    @Test func `an ingest of another app is written down although ingests are not`() throws {
        let guarded = try GuardedBench()
        let key = guarded.add("a", .ingest, apps: apps)
        _ = try guarded.ask(
            try guarded.request(
                1, key, .ingestNotification, GuardedBench.scope("com.example.meadow")))
        #expect(guarded.written.all.isEmpty)
        _ = try guarded.ask(
            try guarded.request(
                2, key, .ingestNotification, GuardedBench.scope(GuardedBench.other)))
        #expect(guarded.written.all.map(\.reason) == ["APP_NOT_ALLOWED"])
        let counts = guarded.bench.service.reader.counters.refusalCounts
        #expect(counts[.appNotAllowed] == 1)
    }

    @Test func `no refusal and no entry repeats a key`() throws {
        let guarded = try GuardedBench()
        guarded.add("old", .check) { $0.expires = SessionBench.now }
        guarded.add("gone", .check) { $0.isRevoked = true }
        guarded.add("poor", .check)
        for id in ["old", "gone", "poor", "nobody"] {
            let key = GuardedBench.text(id)
            for method in [CallMethod.linkCustomer, .checkAccess] {
                let answer = try guarded.bench.ask(
                    try guarded.request(
                        1, Text(key), method, GuardedBench.scope("com.example.meadow")))
                #expect(answer.status != .ok || id == "poor")
                #expect(!answer.message.description.contains(key.suffix(49)))
            }
        }
        #expect(guarded.written.all.count == 7)
        for entry in guarded.written.all { #expect(!"\(entry)".contains("entk_")) }
    }

    @Test func `a call whose connection is gone is written down as that`() throws {
        let guarded = try GuardedBench()
        let key = guarded.add("a", .admin)
        try guarded.bench.send(
            try guarded.request(
                1, key, .linkCustomer, GuardedBench.scope("com.example.meadow")))
        let call = try #require(guarded.bench.taken.first)
        guarded.bench.connection.closed()
        guarded.bench.responder.abandoned(call.tag)
        #expect(guarded.written.all.map(\.reason) == ["CONNECTION_CLOSED"])
    }

    @Test func `ten refusals a second are written`() {
        var budget = DeniedBudget()
        var taken: [Bool] = []
        for _ in 0..<15 { taken.append(budget.take(atMilliseconds: 5_999)) }
        #expect(taken == (0..<15).map { $0 < 10 })
        let isNext = budget.take(atMilliseconds: 6_000)
        #expect(isNext)
    }
}
