import Authorization
import Testing

@testable import Session

@Suite struct CallerTests {
    private let text = Array(GuardedBench.text("k").utf8)
    private var ring: KeyRing {
        var file = KeysFile()
        file.append(
            KeyRecord(
                id: "k", name: "n",
                credential: .key(KeyText.digest(of: String(decoding: text, as: UTF8.self))),
                roles: [.check]))
        file.append(
            KeyRecord(
                id: "c", name: "n", credential: .certificate("dns:b"), roles: [.ingest]))
        return KeyRing(file, worlds: [])
    }

    @Test func `what was found out holds for the same key and the same ring`() {
        var caller = Caller()
        let ring = ring
        caller.show(text.span, to: ring, generation: 1)
        #expect(caller.grant.roles == .check)
        let empty = KeyRing(KeysFile(), worlds: [])
        // It is not looked up again: this ring would not know it.
        caller.show(text.span, to: empty, generation: 1)
        #expect(caller.grant.fault == .none)
        caller.show(text.span, to: empty, generation: 2)
        #expect(caller.grant.fault == .unknown)
    }

    @Test func `another key is looked up, however near it is`() {
        let ring = ring
        for index in text.indices {
            var caller = Caller()
            caller.show(text.span, to: ring, generation: 1)
            var other = text
            other[index] ^= 1
            caller.show(other.span, to: ring, generation: 1)
            #expect(caller.grant.fault == .unknown)
            caller.show(text.span, to: ring, generation: 1)
            #expect(caller.grant.fault == .none)
        }
        var caller = Caller()
        caller.show(text.span, to: ring, generation: 1)
        for other in [Array(text.dropLast()), text + [0], [], [UInt8](repeating: 1, count: 5_000)] {
            caller.show(other.span, to: ring, generation: 1)
            #expect(caller.grant.fault != .none)
            caller.show(text.span, to: ring, generation: 1)
            #expect(caller.grant.fault == .none)
        }
    }

    @Test func `without a key the certificate speaks`() {
        var caller = Caller()
        let none: [UInt8] = []
        caller.show(none.span, to: ring, generation: 1)
        #expect(caller.grant.fault == .missing)
        caller.peer = PeerIdentity(address: "10.0.0.1", certificateNames: ["dns:b"])
        caller.show(none.span, to: ring, generation: 1)
        #expect(caller.grant.roles == .ingest)
    }

    @Test func `too many failures are told once`() {
        var caller = Caller()
        var told: [Int] = []
        for count in 1...2 * Caller.failureCountMax {
            #expect(caller.isShutOut == (count > Caller.failureCountMax))
            if caller.failed() { told.append(count) }
        }
        #expect(told == [Caller.failureCountMax])
    }

    @Test func `use is noted at once, and then once a minute`() {
        var caller = Caller()
        let ring = ring
        caller.show(text.span, to: ring, generation: 1)
        // The last step: the clock is set back.
        let steps: [(Int64, Int64)] = [
            (10, 10), (60_009, 10), (60_010, 60_010), (30_000, 60_010), (9, 9),
        ]
        for (now, noted) in steps {
            caller.noteUse(in: ring, at: now)
            #expect(ring.lastUse(ofRecordAt: 0) == noted)
        }
    }
}
