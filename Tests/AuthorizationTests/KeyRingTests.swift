import OpenSSL
import Testing

@testable import Authorization

@Suite struct KeyRingTests {
    static let key = KeyText.text(id: "k1", secret: Array(0..<32))

    private static let worlds = [
        KeyRing.World(bundleID: "com.a", environment: 1),
        KeyRing.World(bundleID: "com.a", environment: 2),
        KeyRing.World(bundleID: "com.b", environment: 1),
    ]

    private func ring(
        _ records: [KeyRecord], worlds: [KeyRing.World] = worlds, previous: KeyRing? = nil
    ) -> KeyRing {
        var file = KeysFile()
        for record in records { file.append(record) }
        return KeyRing(file, worlds: worlds, previous: previous)
    }

    private static func record(
        _ text: String = key, id: String = "k1", apps: [KeyApp] = []
    ) -> KeyRecord {
        KeyRecord(
            id: id, name: "n", credential: .key(KeyText.digest(of: text)), roles: [.check],
            apps: apps)
    }

    private func fault(_ ring: KeyRing, _ key: [UInt8], _ names: [String] = []) -> KeyGrant.Fault {
        ring.grant(key: key.span, certificateNames: names).fault
    }

    @Test func `the key is known, and nothing near it is`() {
        let ring = ring([Self.record()])
        let bytes = Array(Self.key.utf8)
        #expect(fault(ring, bytes) == .none)
        var forged: [[UInt8]] = [
            Array(bytes.dropLast()), bytes + [0], bytes + [0x41], [0] + bytes,
            Array(bytes.dropFirst()), Array(Self.key.uppercased().utf8), bytes + bytes,
            Array(bytes.prefix(8)), Array("entk_k1_".utf8), Array("k1".utf8), [0x20] + bytes,
            bytes + [0x0A], [UInt8](repeating: 0x61, count: 1 << 20),
            Array("\(KeyText.digest(of: Self.key))".utf8), KeyText.digest(of: Self.key).bytes,
            Array("entk_k1\u{301}_x".utf8), [0xFF],
        ]
        for index in bytes.indices {
            for flip in [UInt8(1), 0x20, 0x80] {
                var changed = bytes
                changed[index] ^= flip
                forged.append(changed)
            }
            var cut = bytes
            cut[index] = 0
            forged.append(cut)
        }
        for key in forged { #expect(fault(ring, key) == .unknown) }
    }

    @Test func `an unknown id and a wrong secret are told alike, a wrong secret of an old key too`()
    {
        var revoked = Self.record()
        revoked.isRevoked = true
        revoked.expires = 1
        let ring = ring([revoked])
        #expect(fault(ring, Array(Self.key.utf8)) == .revoked)
        let wrong = KeyText.text(id: "k1", secret: Array(1..<33))
        let unknown = KeyText.text(id: "k2", secret: Array(1..<33))
        #expect(fault(ring, Array(wrong.utf8)) == .unknown)
        #expect(fault(ring, Array(unknown.utf8)) == .unknown)
    }

    @Test func `two keys of one name are taken at a time`() {
        let other = KeyText.text(id: "k2", secret: Array(2..<34))
        let ring = ring([Self.record(), Self.record(other, id: "k2")])
        #expect(fault(ring, Array(Self.key.utf8)) == .none)
        #expect(fault(ring, Array(other.utf8)) == .none)
    }

    @Test func `nobody is known to an empty ring, everybody to an open one`() {
        #expect(fault(ring([]), []) == .missing)
        #expect(fault(ring([]), Array(Self.key.utf8)) == .unknown)
        #expect(!ring([]).isOpen)
        #expect(KeyRing().isOpen && fault(KeyRing(), []) == .none)
    }

    @Test func `a certificate counts where no key came, by its exact name`() {
        var revoked = KeyRecord(
            id: "c0", name: "c", credential: .certificate("dns:b.example"), roles: [.admin])
        revoked.isRevoked = true
        let record = KeyRecord(
            id: "c1", name: "c", credential: .certificate("dns:b.example"), roles: [.ingest])
        let ring = ring([Self.record(), revoked, record])
        #expect(fault(ring, [], ["cn:x", "dns:b.example"]) == .none)
        let none: [UInt8] = []
        let roles = ring.grant(key: none.span, certificateNames: ["dns:b.example"]).roles
        #expect(roles == .ingest)
        for name in ["dns:B.example", "cn:b.example", "dns:b.example ", "dns:a.b.example", ""] {
            #expect(fault(ring, [], [name]) == .missing)
        }
        // A wrong key is not made good by a certificate.
        #expect(fault(ring, Array("entk_k1_x".utf8), ["dns:b.example"]) == .unknown)
        #expect(fault(self.ring([revoked]), [], ["dns:b.example"]) == .revoked)
        // The id of such a record is no key.
        #expect(fault(ring, Array(KeyText.text(id: "c1", secret: []).utf8)) == .unknown)
    }

    @Test func `a limited key may speak of its worlds only`() {
        func allowed(_ apps: [KeyApp]) -> [Bool] {
            let ring = ring([Self.record(apps: apps)])
            let grant = ring.grant(key: Array(Self.key.utf8).span, certificateNames: [])
            return Self.worlds.indices.map { ring.allows(grant, worldAt: $0) }
        }
        #expect(allowed([]) == [true, true, true])
        #expect(allowed([KeyApp(bundleID: "com.a")]) == [true, true, false])
        #expect(allowed([KeyApp(bundleID: "com.a", environment: 2)]) == [false, true, false])
        #expect(
            allowed([KeyApp(bundleID: "com.b"), KeyApp(bundleID: "com.c")]) == [
                false, false, true,
            ])
        #expect(allowed([KeyApp(bundleID: "com.A")]) == [false, false, false])
    }

    @Test func `worlds behind the 64th are told apart as well`() {
        let worlds = (0..<130).map { KeyRing.World(bundleID: "app\($0)", environment: 1) }
        let ring = ring(
            [Self.record(apps: [KeyApp(bundleID: "app63"), KeyApp(bundleID: "app129")])],
            worlds: worlds)
        let grant = ring.grant(key: Array(Self.key.utf8).span, certificateNames: [])
        #expect(worlds.indices.filter { ring.allows(grant, worldAt: $0) } == [63, 129])
        #expect(!ring.allows(grant, worldAt: 1_000))
    }

    @Test func `when a key was seen outlives another ring`() {
        let first = ring([Self.record()])
        let grant = first.grant(key: Array(Self.key.utf8).span, certificateNames: [])
        first.noteUse(of: grant, atMilliseconds: 77)
        #expect(first.lastUse(ofRecordAt: 0) == 77)
        let next = ring([Self.record(id: "k0"), Self.record()], previous: first)
        #expect(next.lastUse(ofRecordAt: 0) == 0 && next.lastUse(ofRecordAt: 1) == 77)
        #expect(first.record(of: grant)?.id == "k1")
        #expect(first.record(of: .refused(.unknown)) == nil)
    }

    @Test func `apps that nobody serves are found`() {
        let ring = ring([Self.record(apps: [KeyApp(bundleID: "com.a"), KeyApp(bundleID: "com.x")])])
        #expect(ring.unknownApps == ["com.x"])
    }
}
