import AppStore
import TestSupport
import Testing

@Suite struct HostileInputTests {
    let fixtures: SignedFixtures
    let verifier: SignedDataVerifier
    let body: [UInt8]

    init() throws {
        fixtures = try Desk.fixtures()
        verifier = try fixtures.verifier()
        let transaction = try fixtures.transaction(
            "20", original: "10", product: "meadow.plus.month", purchased: Desk.march,
            expires: Desk.april)
        let renewal = try fixtures.renewal(
            "10", product: "meadow.plus.month", renewal: Desk.april, signed: Desk.march)
        body = SignedFixtures.body(
            try fixtures.notification(
                "DID_RENEW", uuid: "u", signed: Desk.march,
                data: fixtures.notificationData(transaction: transaction, renewal: renewal)))
    }

    @Test func `a message cut at any byte is refused`() {
        for count in stride(from: 0, to: body.count, by: 1) {
            let cut = Array(body.prefix(count))
            guard refusal({ try verifier.verifyNotification(cut) }) == nil else { continue }
            Issue.record("accepted when cut to \(count) bytes")
        }
        #expect(refusal { try verifier.verifyNotification(body) } == nil)
    }

    @Test func `a bare JWS cut at any byte is refused`() throws {
        let jws = try fixtures.charge()
        for count in 0..<jws.count {
            let cut = Array(jws.prefix(count))
            guard refusal({ try verifier.verifyNotification(cut) }) == nil else { continue }
            Issue.record("accepted when cut to \(count) bytes")
        }
    }

    @Test func `a changed message is refused, or says the same`() throws {
        let expected = try verifier.verifyNotification(body)
        var random = SplitMix(state: 42)
        var refusedCount = 0
        for round in 0..<4_000 {
            var changed = body
            for _ in 0...random.next(below: 3) {
                let place = random.next(below: changed.count)
                switch random.next(below: 4) {
                case 0: changed[place] = UInt8(random.next(below: 256))
                case 1: changed[place] ^= 1 << UInt8(random.next(below: 8))
                case 2: changed.insert(UInt8(random.next(below: 256)), at: place)
                default:
                    changed.removeSubrange(
                        place..<min(changed.count, place + 1 + random.next(below: 40)))
                }
            }
            do {
                #expect(try verifier.verifyNotification(changed) == expected, "round \(round)")
            } catch {
                refusedCount += 1
            }
        }
        #expect(refusedCount > 3_900)
    }

    @Test func `changed headers and payloads that are signed anew never crash`() throws {
        var random = SplitMix(state: 7)
        let header = fixtures.authority.header.utf8
        let claims = fixtures.transactionClaims(
            "20", product: "meadow.plus.month", purchased: Desk.march, expires: Desk.april
        ).utf8
        for _ in 0..<1_000 {
            let changedHeader = mutated(header, by: &random)
            let changedClaims = mutated(claims, by: &random)
            let first = try fixtures.authority.sign(
                header: .verbatim(String(decoding: changedHeader, as: UTF8.self)), payload: claims)
            let second = try fixtures.authority.sign(changedClaims)
            for jws in [first, second] {
                _ = refusal { try verifier.verifyTransaction(jws) }
                _ = refusal { try verifier.verifyRenewal(jws) }
                _ = refusal { try verifier.verifyNotification(jws) }
                _ = refusal { try verifier.verifyAppTransaction(jws) }
            }
        }
        #expect(refusal { try verifier.verifyNotification(body) } == nil)
    }

    @Test func `a megabyte of anything is answered`() {
        let megabyte = 1 << 20
        for byte in ["{", "[", "\"", ".", "A", " ", "\\", "0", "\0"] {
            let text = [UInt8](repeating: Array(byte.utf8)[0], count: megabyte)
            #expect(refusal { try verifier.verifyNotification(text) } == "MALFORMED_PAYLOAD")
            let inside = Array("{\"signedPayload\":\"".utf8) + text
            #expect(refusal { try verifier.verifyNotification(inside) } == "MALFORMED_PAYLOAD")
        }
    }

    private func mutated(_ bytes: [UInt8], by random: inout SplitMix) -> [UInt8] {
        var changed = bytes
        let alphabet = Array("{}[],:\"\\0123456789-.eEtrufalsn AZ".utf8)
        for _ in 0...random.next(below: 3) {
            let place = random.next(below: changed.count)
            changed[place] = alphabet[random.next(below: alphabet.count)]
        }
        return changed
    }
}
