import AppStore
import FoundationEssentials
import OpenSSL
import Testing

@testable import entitled

/// Apple's own root, where the vectors that others made are at hand.
private let appleRoot: [UInt8]? = {
    let environment = ProcessInfo.processInfo.environment
    let directory = environment["ENTITLED_VECTORS"] ?? "../shared/vectors"
    return FileManager.default.contents(
        atPath: "\(directory)/apple/certs/AppleRootCA-G3.cer"
    ).map(Array.init)
}()

/// A test CA's root in DER and PEM.
func testRoot() throws -> (der: [UInt8], pem: [UInt8]) {
    let builder = CertificateBuilder(
        subject: "Test Root",
        validity: ValidityWindow(
            notBeforeMilliseconds: 1_700_000_000_000, notAfterMilliseconds: 2_000_000_000_000),
        isAuthority: true)
    let der = try builder.selfSigned(by: SigningKey(generatedOn: .p384)).der
    let text = Data(der).base64EncodedString(options: [.lineLength64Characters])
    let pem = "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
    return (der, Array(pem.utf8))
}

@Suite struct TrustedRootsTests {
    private func load(
        _ files: [String: [UInt8]], allowTestRoot: Bool = false,
        unreadable: [String: FileReadError] = [:]
    ) throws -> [TrustedRoot] {
        let roots = (Array(files.keys) + Array(unreadable.keys)).sorted()
        let arguments =
            ["--bundle-id", "a", "--app-apple-id", "1"] + roots.map { "--apple-root=\($0)" }
            + (allowTestRoot ? ["--allow-test-root"] : [])
        let inputs = inputs(arguments, files: files, unreadable: unreadable)
        let configuration = try ConfigurationLoader(inputs).configuration()
        return try TrustedRoots.load(configuration, readFile: inputs.readFile)
    }

    @Test func `a root that is not Apple's is refused, with both fingerprints`() throws {
        let root = try testRoot()
        let fingerprint = SHA256Digest(of: root.der.span).description
        for bytes in [root.der, root.pem] {
            let failure = try #require(throws: ConfigurationFailure.self) {
                try load(["/r": bytes])
            }
            #expect(failure.exitCode == .configuration)
            #expect(failure.problems.count == 1)
            #expect(failure.problems[0].message.contains(fingerprint))
            #expect(failure.problems[0].message.contains(TrustedRoot.appleFingerprint))
            #expect(failure.problems[0].message.contains("--allow-test-root"))
        }
    }

    @Test func `a test root is trusted when that was asked for, in DER and PEM`() throws {
        let root = try testRoot()
        let roots = try load(["/a": root.der, "/b": root.pem], allowTestRoot: true)
        #expect(Set(roots.map(\.fingerprint)).count == 1)
        #expect(roots.count == 2 && !roots[0].isApple)
    }

    @Test(.enabled(if: appleRoot != nil, "no vectors at hand"))
    func `Apple's own root needs nothing`() throws {
        let bytes = try #require(appleRoot)
        #expect(
            try load(["/r": bytes]).map(\.fingerprint) == [TrustedRoot.appleFingerprint])
    }

    @Test func `what is no certificate is refused`() throws {
        let root = try testRoot()
        let broken: [[UInt8]] = [
            [], [0x30], Array("hello".utf8), Array(root.der.dropLast()), root.der + [0],
            Array(root.pem.prefix(60)),
            root.der + Array(repeating: 0, count: TrustedRoots.byteCountMax),
        ]
        for bytes in broken {
            let failure = try #require(throws: ConfigurationFailure.self) {
                try load(["/r": bytes], allowTestRoot: true)
            }
            #expect(
                failure.problems.map(\.message)
                    == ["the root certificate `/r` is no certificate in PEM or DER"])
        }
    }

    @Test func `every root that cannot be read is named`() throws {
        let failure = try #require(throws: ConfigurationFailure.self) {
            try load([:], unreadable: ["/a": .notFound, "/b": .other("it is a directory")])
        }
        #expect(
            failure.problems.map(\.message) == [
                "the root certificate `/a`: there is no such file",
                "the root certificate `/b`: it is a directory",
            ])
    }
}
