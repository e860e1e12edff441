import FoundationEssentials
import OpenSSL
import Testing

@Suite struct ChainPolicyTests {
    @Test(arguments: EllipticCurve.allCases)
    func `leaf, intermediate and pinned root are trusted`(curve: EllipticCurve) throws {
        #expect(try TestChain(rootCurve: curve).verify() == TestChain.validity)
    }

    @Test func `the window is what all three certificates have in common`() throws {
        let chain = try TestChain(
            changeIntermediate: {
                $0.validity = ValidityWindow(
                    notBeforeMilliseconds: 1_750_000_000_000,
                    notAfterMilliseconds: 2_000_000_000_000)
            },
            changeLeaf: {
                $0.validity = ValidityWindow(
                    notBeforeMilliseconds: 1_600_000_000_000,
                    notAfterMilliseconds: 1_800_000_000_000)
            })
        let window = try chain.verify()
        #expect(window.notBeforeMilliseconds == 1_750_000_000_000)
        #expect(window.notAfterMilliseconds == 1_800_000_000_000)
        #expect(window.contains(1_750_000_000_000) && !window.contains(1_749_999_999_999))
        #expect(window.contains(1_800_000_000_000) && !window.contains(1_800_000_000_001))
    }

    @Test func `a root's window counts as well`() throws {
        let chain = try TestChain(changeRoot: {
            $0.validity = ValidityWindow(
                notBeforeMilliseconds: 1_700_000_000_000, notAfterMilliseconds: 1_710_000_000_000)
        })
        #expect(try chain.verify().notAfterMilliseconds == 1_710_000_000_000)
    }

    @Test func `time is left to the caller`() throws {
        let chain = try TestChain(changeLeaf: {
            $0.validity = ValidityWindow(notBeforeMilliseconds: 0, notAfterMilliseconds: 1_000)
        })
        #expect(try chain.verify().notAfterMilliseconds == 1_000)
    }

    @Test func `the same names under another root are not trusted`() throws {
        let chain = try TestChain()
        let other = try TestChain()
        let policy = try ChainPolicy(roots: [other.root])
        expectUntrusted { try policy.verify(leaf: chain.leaf, intermediate: chain.intermediate) }
        expectUntrusted { try policy.verify(leaf: chain.leaf, intermediate: other.intermediate) }
    }

    @Test func `any of several pinned roots will do`() throws {
        let chain = try TestChain()
        let policy = try ChainPolicy(roots: [TestChain().root, chain.root, TestChain().root])
        #expect(
            try policy.verify(leaf: chain.leaf, intermediate: chain.intermediate)
                == TestChain.validity)
    }

    @Test func `without a root nothing is trusted`() throws {
        let chain = try TestChain()
        let policy = try ChainPolicy(roots: [])
        expectUntrusted { try policy.verify(leaf: chain.leaf, intermediate: chain.intermediate) }
    }

    @Test func `a pinned intermediate is no root`() throws {
        let chain = try TestChain()
        let policy = try ChainPolicy(roots: [chain.intermediate])
        expectUntrusted { try policy.verify(leaf: chain.leaf, intermediate: chain.intermediate) }
    }

    @Test func `a leaf that the root issued itself needs the intermediate all the same`() throws {
        let chain = try TestChain()
        let builder = CertificateBuilder(
            subject: "Direct", validity: TestChain.validity, serialNumber: 9,
            markerOIDs: [ChainPolicy.receiptSignerOID])
        let direct = try builder.issued(for: chain.leafKey, by: chain.root, chain.rootKey)
        let policy = try ChainPolicy(roots: [chain.root])
        expectUntrusted { try policy.verify(leaf: direct, intermediate: chain.intermediate) }
        expectUntrusted { try policy.verify(leaf: direct, intermediate: chain.root) }
    }

    @Test func `a second intermediate between is refused`() throws {
        let chain = try TestChain()
        let key = try SigningKey(generatedOn: .p384)
        let second = try CertificateBuilder(
            subject: "Second", validity: TestChain.validity, serialNumber: 5, isAuthority: true,
            markerOIDs: [ChainPolicy.developerRelationsOID]
        ).issued(for: key, by: chain.intermediate, chain.intermediateKey)
        let leaf = try CertificateBuilder(
            subject: "Leaf", validity: TestChain.validity, serialNumber: 6,
            markerOIDs: [ChainPolicy.receiptSignerOID]
        ).issued(for: chain.leafKey, by: second, key)
        let policy = try ChainPolicy(roots: [chain.root])
        expectUntrusted { try policy.verify(leaf: leaf, intermediate: second) }
    }

    @Test func `an intermediate that is no authority issues nothing`() throws {
        let chain = try TestChain(changeIntermediate: { $0.isAuthority = false })
        expectUntrusted { try chain.verify() }
    }

    @Test func `a root that is no authority issues nothing`() throws {
        let chain = try TestChain(changeRoot: { $0.isAuthority = false })
        expectUntrusted { try chain.verify() }
    }

    @Test func `a root's path length is kept`() throws {
        #expect(throws: Never.self) {
            try TestChain(changeIntermediate: { $0.pathLength = 0 }).verify()
        }
        let chain = try TestChain(changeRoot: { $0.pathLength = 0 })
        expectUntrusted { try chain.verify() }
    }

    @Test func `an unknown critical extension is refused`() throws {
        let leaf = try TestChain(changeLeaf: { $0.unknownCriticalOID = "1.3.6.1.4.1.99999.1" })
        expectUntrusted { try leaf.verify() }
        let issuer = try TestChain(changeIntermediate: {
            $0.unknownCriticalOID = "1.3.6.1.4.1.99999.1"
        })
        expectUntrusted { try issuer.verify() }
    }

    @Test func `a leaf signed with another key than the intermediate's is refused`() throws {
        let chain = try TestChain()
        let forged = try CertificateBuilder(
            subject: "Test Leaf", validity: TestChain.validity, serialNumber: 3,
            markerOIDs: [ChainPolicy.receiptSignerOID]
        ).issued(for: chain.leafKey, by: chain.intermediate, SigningKey(generatedOn: .p384))
        let policy = try ChainPolicy(roots: [chain.root])
        expectUntrusted { try policy.verify(leaf: forged, intermediate: chain.intermediate) }
    }

    @Test func `a chain without its marker extensions is trusted and still refused`() throws {
        let noLeafMarker = try TestChain(changeLeaf: { $0.markerOIDs = [] })
        #expect(throws: ChainError.markerMissing(oid: ChainPolicy.receiptSignerOID)) {
            try noLeafMarker.verify()
        }
        let noIssuerMarker = try TestChain(changeIntermediate: { $0.markerOIDs = [] })
        #expect(throws: ChainError.markerMissing(oid: ChainPolicy.developerRelationsOID)) {
            try noIssuerMarker.verify()
        }
        let swapped = try TestChain(
            changeIntermediate: { $0.markerOIDs = [ChainPolicy.receiptSignerOID] },
            changeLeaf: { $0.markerOIDs = [ChainPolicy.developerRelationsOID] })
        #expect(throws: ChainError.markerMissing(oid: ChainPolicy.receiptSignerOID)) {
            try swapped.verify()
        }
    }

    @Test func `trust is decided before the markers`() throws {
        let chain = try TestChain(changeLeaf: { $0.markerOIDs = [] })
        let policy = try ChainPolicy(roots: [TestChain().root])
        expectUntrusted { try policy.verify(leaf: chain.leaf, intermediate: chain.intermediate) }
    }

    @Test func `threads may share one policy`() async throws {
        let chain = try TestChain()
        let policy = try ChainPolicy(roots: [chain.root])
        try await withThrowingTaskGroup(of: ValidityWindow.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try policy.verify(leaf: chain.leaf, intermediate: chain.intermediate)
                }
            }
            for try await window in group { #expect(window == TestChain.validity) }
        }
    }

    private func expectUntrusted(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> ValidityWindow
    ) {
        #expect(sourceLocation: sourceLocation) {
            _ = try body()
        } throws: { error in
            if case ChainError.untrusted(let reason)? = error as? ChainError {
                !reason.isEmpty
            } else {
                false
            }
        }
    }
}

/// The certificates that Apple and Apple's own library publish, where they lie beside the project.
@Suite(
    .enabled(if: PublishedCertificates.directory != nil, "no ../shared/vectors beside the project"))
struct PublishedCertificateTests {
    @Test func `Apple's root has the published fingerprint`() throws {
        let root = try PublishedCertificates.read("AppleRootCA-G3.cer")
        #expect(
            root.fingerprint.description
                == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
        #expect(root.subject.contains("Apple Root CA - G3"))
    }

    @Test func `Apple's production chain is trusted under Apple's root`() throws {
        let policy = try ChainPolicy(roots: [PublishedCertificates.read("AppleRootCA-G3.cer")])
        let leaf = try PublishedCertificates.read("apple-receipt-signing-2025.cer")
        let window = try policy.verify(
            leaf: leaf, intermediate: PublishedCertificates.read("AppleWWDRCAG6.cer"))
        #expect(window.contains(1_772_323_200_000))
        #expect(!window.contains(1_757_000_000_000))
        #expect(!window.contains(1_830_000_000_000))
        #expect(ES256PublicKey(leaf) != nil)
    }

    @Test(arguments: [
        ("chain-leaf.der", "chain-intermediate.der", nil),
        ("chain-leaf-wrong-oid.der", "chain-intermediate.der", ChainPolicy.receiptSignerOID),
        (
            "chain-leaf-under-wrong-oid-intermediate.der", "chain-intermediate-wrong-oid.der",
            ChainPolicy.developerRelationsOID
        ),
    ])
    func `the library's chains get the library's answers`(
        leaf: String, intermediate: String, missing: String?
    ) throws {
        let policy = try ChainPolicy(roots: [PublishedCertificates.read("chain-root.der")])
        let leaf = try PublishedCertificates.read(leaf)
        let intermediate = try PublishedCertificates.read(intermediate)
        guard let missing else {
            let window = try policy.verify(leaf: leaf, intermediate: intermediate)
            #expect(window.contains(1_681_312_846_000))
            #expect(!window.contains(1_600_000_000_000) && !window.contains(2_280_946_846_000))
            return
        }
        #expect(throws: ChainError.markerMissing(oid: missing)) {
            try policy.verify(leaf: leaf, intermediate: intermediate)
        }
    }

    @Test func `neither chain is trusted under the other's root`() throws {
        let apple = try ChainPolicy(roots: [PublishedCertificates.read("AppleRootCA-G3.cer")])
        let library = try ChainPolicy(roots: [PublishedCertificates.read("chain-root.der")])
        #expect(throws: ChainError.self) {
            try apple.verify(
                leaf: PublishedCertificates.read("chain-leaf.der"),
                intermediate: PublishedCertificates.read("chain-intermediate.der"))
        }
        #expect(throws: ChainError.self) {
            try library.verify(
                leaf: PublishedCertificates.read("apple-receipt-signing-2025.cer"),
                intermediate: PublishedCertificates.read("AppleWWDRCAG6.cer"))
        }
    }
}

/// Where the published certificates lie: `ENTITLED_VECTORS`, else `../shared/vectors`.
enum PublishedCertificates {
    static let directory: String? = {
        let environment = ProcessInfo.processInfo.environment["ENTITLED_VECTORS"]
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let path = environment ?? package.appending(path: "../shared/vectors").path
        return FileManager.default.fileExists(atPath: path + "/apple/certs") ? path : nil
    }()

    static func read(_ name: String) throws -> Certificate {
        let directory = try #require(directory)
        let file = try Data(contentsOf: URL(filePath: "\(directory)/apple/certs/\(name)"))
        return try Certificate(file: Array(file))
    }
}
