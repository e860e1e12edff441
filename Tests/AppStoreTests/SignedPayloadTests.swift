import AppStore
import Bytes
import Entitlements
import OpenSSL
import TestSupport
import Testing

@Suite struct SignedPayloadTests {
    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
        0x25, 0x51,
    ]
    static let zero = [UInt8](repeating: 0, count: 32)
    static let one = [UInt8](repeating: 0, count: 31) + [1]

    let fixtures: SignedFixtures
    let verifier: SignedDataVerifier
    let charge: [UInt8]

    init() throws {
        fixtures = try Desk.fixtures()
        verifier = try fixtures.verifier()
        charge = try fixtures.charge()
    }

    private func refused(_ body: [UInt8]) -> String? {
        refusal { try verifier.verifyNotification(body) }
    }

    @Test func `S1: raw signatures with a high bit or a leading zero are as good as any`() throws {
        let kinds: [([UInt8]) -> Bool] = [
            { $0[0] >= 0x80 }, { $0[32] >= 0x80 }, { $0[0] == 0 }, { $0[32] == 0 },
            { $0[0] < 0x80 && $0[32] < 0x80 },
        ]
        for kind in kinds {
            var jws = charge
            while !kind(Segments(jws).signatureBytes) { jws = try resigned(jws) }
            #expect(refused(jws) == nil)
            let signature = Segments(jws).signatureBytes
            if signature[32] == 0 {
                let short = Array(signature[..<32] + signature[33...])
                #expect(refused(Segments(jws).signed(short)) == "BAD_SIGNATURE")
            }
        }
    }

    @Test func `S1: DER, or one byte more, is no ES256 signature`() throws {
        let segments = Segments(charge)
        let input = segments.header + [UInt8(ascii: ".")] + segments.payload
        let der = try fixtures.authority.leafKey.derSignature(of: input.span)
        #expect(refused(segments.signed(der)) == "BAD_SIGNATURE")
        #expect(refused(segments.signed(segments.signatureBytes + [0])) == "BAD_SIGNATURE")
        #expect(
            refused(segments.signed(Array(segments.signatureBytes.dropLast()))) == "BAD_SIGNATURE")
        #expect(refused(segments.signed(segments.signatureBytes)) == nil)
    }

    @Test func `S1: the mirrored s is the same notification again`() throws {
        let signature = Segments(charge).signatureBytes
        var digits: [UInt8] = []
        var borrow = 0
        for index in (0..<32).reversed() {
            let difference = Int(Self.order[index]) - Int(signature[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            digits.insert(UInt8(truncatingIfNeeded: difference), at: 0)
        }
        let mirrored = Segments(charge).signed(signature[..<32] + digits)
        let first = try verifier.verifyNotification(charge).signed
        let second = try verifier.verifyNotification(mirrored).signed
        #expect(first?.notification == second?.notification)
        #expect(first?.notification.notificationUUID == "u-1")
    }

    @Test(arguments: [
        zero + zero, [0x30, 0x06, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00], [], order + one, one + order,
        order + order, zero + one, one + zero, one + one,
    ])
    func `S2: a signature of nothing proves nothing`(signature: [UInt8]) {
        let forged = Segments(charge).signed(signature)
        #expect(refused(forged) == "BAD_SIGNATURE")
    }

    @Test func `S2: the empty and the all-A signature as text`() {
        var segments = Segments(charge)
        segments.signature = []
        #expect(refused(segments.jws) == "BAD_SIGNATURE")
        segments.signature = [UInt8](repeating: UInt8(ascii: "A"), count: 86)
        #expect(refused(segments.jws) == "BAD_SIGNATURE")
        segments.signature = Array("MAYCAQACAQA".utf8)
        #expect(refused(segments.jws) == "BAD_SIGNATURE")
    }

    @Test func `a genuine chain does not make another payload genuine`() throws {
        var segments = Segments(charge)
        segments.payload = Segments(try fixtures.charge(uuid: "u-2")).payload
        #expect(refused(segments.jws) == "BAD_SIGNATURE")
        #expect(refused(charge) == nil)
        // The chain is known now; the signature is checked all the same.
        #expect(refused(segments.jws) == "BAD_SIGNATURE")
    }

    @Test(arguments: ["none", "HS256", "ES384", "es256", "ES256 ", "RS256", "", "PS256", "EdDSA"])
    func `S4: any algorithm but ES256 is refused before anything else`(name: String) throws {
        let header = fixtures.authority.header.changed(["alg": .string(name)])
        #expect(refused(try signed(header)) == "WRONG_ALGORITHM")
    }

    @Test func `S4: an absent or odd alg is refused as well`() throws {
        let header = fixtures.authority.header
        #expect(refused(try signed(header.changed(["alg": nil]))) == "WRONG_ALGORITHM")
        #expect(refused(try signed(header.changed(["alg": .null]))) == "WRONG_ALGORITHM")
        #expect(refused(try signed(header.changed(["alg": ["ES256"]]))) == "WRONG_ALGORITHM")
        #expect(refused(try signed(header.changed(["alg": 256]))) == "WRONG_ALGORITHM")
        let bare: FixtureJSON = ["alg": "none"]
        var segments = Segments(try signed(bare))
        segments.signature = []
        #expect(refused(segments.jws) == "WRONG_ALGORITHM")
    }

    @Test(
        arguments: [
            (nil, "MALFORMED_PAYLOAD"), (.null, "MALFORMED_PAYLOAD"), ([], "MALFORMED_PAYLOAD"),
            ("MIIB", "MALFORMED_PAYLOAD"), (["a": "b"], "MALFORMED_PAYLOAD"),
            ([1, 2, 3], "MALFORMED_PAYLOAD"), (["MIIB", "MIIB", 3], "MALFORMED_PAYLOAD"),
            (["MIIB", "MIIB", .null], "MALFORMED_PAYLOAD"),
            (["MIIB", "MIIB", "MIIB"], "MALFORMED_PAYLOAD"),
            (["", "", ""], "MALFORMED_PAYLOAD"),
            (["MI-B", "MIIB", "MIIB"], "MALFORMED_PAYLOAD"),
            (["not base64!", "x", "y"], "MALFORMED_PAYLOAD"),
            (["MIIB"], "CHAIN_LENGTH"), (["MIIB", "MIIB"], "CHAIN_LENGTH"),
            (["MIIB", "MIIB", "MIIB", "MIIB"], "CHAIN_LENGTH"),
        ] as [(FixtureJSON?, String)])
    func `S4: x5c that holds no three certificates is refused`(
        x5c: FixtureJSON?, reason: String
    ) throws {
        #expect(refused(try signed(fixtures.authority.header.changed(["x5c": x5c]))) == reason)
    }

    @Test func `x5c entries are Base64, not Base64URL, and hold one certificate each`() throws {
        let leaf = fixtures.authority.leaf.der
        let intermediate = base64(fixtures.authority.intermediate.der)
        let inURL = String(decoding: Base64URL.encode(leaf.span), as: UTF8.self)
        for text in [inURL, base64(leaf) + "\n", base64(leaf + [0]), base64(leaf + leaf)] {
            let x5c: FixtureJSON = [.string(text), .string(intermediate), "x"]
            let header = fixtures.authority.header.changed(["x5c": x5c])
            #expect(refused(try signed(header)) == "MALFORMED_PAYLOAD")
        }
    }

    @Test func `x5c[2] is not even parsed`() throws {
        for third in ["", "no certificate", base64(try TestCertificateAuthority().root.der)] {
            let x5c: FixtureJSON = [
                .string(base64(fixtures.authority.leaf.der)),
                .string(base64(fixtures.authority.intermediate.der)), .string(third),
            ]
            #expect(refused(try signed(fixtures.authority.header.changed(["x5c": x5c]))) == nil)
        }
    }

    @Test func `x5c in the wrong order is refused`() throws {
        let leaf = FixtureJSON.string(base64(fixtures.authority.leaf.der))
        let intermediate = FixtureJSON.string(base64(fixtures.authority.intermediate.der))
        let root = FixtureJSON.string(base64(fixtures.authority.root.der))
        for x5c in [
            [intermediate, leaf, root], [leaf, root, intermediate], [root, intermediate, leaf],
            [leaf, leaf, leaf], [root, root, root],
        ] {
            let header = fixtures.authority.header.changed(["x5c": .array(x5c)])
            #expect(refused(try signed(header)) == "UNTRUSTED_CHAIN")
        }
    }

    @Test func `S4: a key of one's own in jwk, jku or kid counts for nothing`() throws {
        let own = try SigningKey(generatedOn: .p256)
        let header = fixtures.authority.header.changed([
            "kid": "mine", "jku": "https://127.0.0.1:1/keys",
            "jwk": ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"],
        ])
        #expect(refused(try signed(header)) == nil)
        let forged = Segments(try signed(header))
        let input = forged.header + [UInt8(ascii: ".")] + forged.payload
        #expect(refused(forged.signed(try own.signature(of: input.span))) == "BAD_SIGNATURE")
    }

    @Test func `critical header extensions are not understood`() throws {
        let header = fixtures.authority.header.changed(["crit": ["b64"], "b64": false])
        #expect(refused(try signed(header)) == "MALFORMED_PAYLOAD")
    }

    @Test(arguments: [
        (TestCertificateAuthority.Defect.leafMarkerMissing, "MARKER_OID_MISSING"),
        (.intermediateMarkerMissing, "MARKER_OID_MISSING"),
        (.leafOnP384, "BAD_SIGNATURE"),
        (.intermediateNotAuthority, "UNTRUSTED_CHAIN"),
        (.intermediateOfAnotherRoot, "UNTRUSTED_CHAIN"),
        (.leafOfAnotherIntermediate, "UNTRUSTED_CHAIN"),
    ])
    func `every defect of the chain has its reason`(
        defect: TestCertificateAuthority.Defect, reason: String
    ) throws {
        let authority = try TestCertificateAuthority(defect: defect)
        let fixtures = SignedFixtures(authority: authority)
        let verifier = try fixtures.verifier()
        let jws = try fixtures.charge()
        // Twice: distrust is not remembered as trust.
        for _ in 0..<2 {
            #expect(refusal { try verifier.verifyNotification(jws) } == reason)
        }
    }

    @Test func `another authority's chain is not trusted`() throws {
        let stranger = SignedFixtures(authority: try TestCertificateAuthority())
        #expect(refused(try stranger.charge()) == "UNTRUSTED_CHAIN")
    }

    @Test func `S5: certificates must be valid when the payload was signed, not now`() throws {
        // The leaf is valid until 2026-03-15T00:00:00Z.
        let end: Int64 = 1_773_532_800_000
        let authority = try TestCertificateAuthority(
            leafValidity: ValidityWindow(
                notBeforeMilliseconds: 1_771_200_000_000, notAfterMilliseconds: end))
        let fixtures = SignedFixtures(authority: authority)
        let verifier = try fixtures.verifier()
        for (signed, reason) in [
            (1_771_199_999_999, "CERTIFICATE_EXPIRED"), (1_771_200_000_000, nil),
            (1_773_100_804_000, nil), (end, nil), (end + 1, "CERTIFICATE_EXPIRED"),
            (1_773_964_800_000, "CERTIFICATE_EXPIRED"), (0, "CERTIFICATE_EXPIRED"),
            (.max, "CERTIFICATE_EXPIRED"), (.min, "CERTIFICATE_EXPIRED"),
        ] as [(Int64, String?)] {
            let jws = try fixtures.transaction(
                "1", product: "meadow.lifetime", purchased: 1_773_100_800_000, signed: signed)
            #expect(refusal { try verifier.verifyTransaction(jws) } == reason)
        }
    }

    @Test func `a new leaf of the same intermediate is trusted beside the old one`() throws {
        let rotated = SignedFixtures(
            authority: try TestCertificateAuthority(rotatingLeafOf: fixtures.authority))
        #expect(refused(try rotated.charge(uuid: "u-2")) == nil)
        #expect(refused(charge) == nil)
    }

    @Test(arguments: ["", "x", "\"text\"", "[]", "1", "null", "{", "{}x", "\u{FEFF}{}"])
    func `D2: a signed payload that is no JSON object is refused`(payload: String) throws {
        #expect(refused(try fixtures.authority.sign(Array(payload.utf8))) == "MALFORMED_PAYLOAD")
    }

    @Test func `a payload that is not UTF-8 is refused`() throws {
        let payload = Array("{\"a\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        #expect(refused(try fixtures.authority.sign(payload)) == "MALFORMED_PAYLOAD")
    }

    @Test(arguments: [nil, .null, "soon", true, [1], .verbatim("1e300")] as [FixtureJSON?])
    func `without a signedDate nothing is verified`(date: FixtureJSON?) throws {
        let jws = try fixtures.transaction(
            "1", product: "p", purchased: Desk.march, changes: ["signedDate": date])
        #expect(refusal { try verifier.verifyTransaction(jws) } == "MISSING_CLAIM")
    }

    @Test func `S11: hyphen and underscore are read, other spellings are not`() throws {
        var jws = charge
        while true {
            let segments = Segments(jws)
            let text = segments.payload + segments.signature
            if text.contains(UInt8(ascii: "-")) && text.contains(UInt8(ascii: "_")) { break }
            jws = try fixtures.charge(uuid: "?>~\(Segments(jws).signature.count)???>>>")
        }
        #expect(refused(jws) == nil)
        let segments = Segments(jws)
        var plain = segments
        plain.payload = plain.payload.map {
            $0 == UInt8(ascii: "-")
                ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
        let input = plain.header + [UInt8(ascii: ".")] + plain.payload
        let signature = try fixtures.authority.leafKey.signature(of: input.span)
        let isChanged = plain.payload != segments.payload
        #expect(!isChanged || refused(plain.signed(signature)) == "MALFORMED_PAYLOAD")
        #expect(refused(jws + Array("==".utf8)) == "MALFORMED_PAYLOAD")
        #expect(refused(jws + Array("\n".utf8)) == "MALFORMED_PAYLOAD")
        var broken = jws
        broken.insert(UInt8(ascii: "\n"), at: jws.count - 10)
        #expect(refused(broken) == "MALFORMED_PAYLOAD")
    }

    @Test func `S11: a last character with loose bits is refused`() {
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var accepted = 0
        for character in alphabet {
            let reason = refused(Array(charge.dropLast()) + [character])
            accepted += reason == nil ? 1 : 0
        }
        #expect(accepted == 1)
    }

    @Test(arguments: ["", ".", "..", "...", "a.b", "a.b.c.d", "e30.e30.", "{}.{}.{}", "é.é.é"])
    func `what is no compact JWS is refused`(text: String) {
        let reason = refused(Array(text.utf8))
        #expect(
            reason == "MALFORMED_PAYLOAD" || (text == "e30.e30." && reason == "WRONG_ALGORITHM"))
    }

    private func signed(_ header: FixtureJSON) throws -> [UInt8] {
        let payload = try Base64URL.decode(Segments(charge).payload.span)
        return try fixtures.authority.sign(header: header, payload: payload)
    }

    private func resigned(_ jws: [UInt8]) throws -> [UInt8] {
        let segments = Segments(jws)
        let input = segments.header + [UInt8(ascii: ".")] + segments.payload
        return segments.signed(try fixtures.authority.leafKey.signature(of: input.span))
    }

    private func base64(_ der: [UInt8]) -> String {
        String(decoding: Base64.encode(der.span), as: UTF8.self)
    }
}
