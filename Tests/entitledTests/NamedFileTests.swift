import AppStoreServerAPI
import OpenSSL
import Testing

@testable import entitled

@Suite struct NamedFileTests {
    private func reading(_ file: [UInt8]?, _ error: FileReadError = .notFound) -> NamedFile.Reading
    {
        { (_, _) throws(FileReadError) in
            guard let file else { throw error }
            return file
        }
    }

    private func message(_ body: () throws(ConfigurationFailure) -> Void) -> String {
        do throws(ConfigurationFailure) {
            try body()
            return ""
        } catch {
            #expect(error.exitCode == .configuration)
            return error.problems.map(\.message).joined()
        }
    }

    private func settings() throws -> AppStoreAPISettings {
        let arguments = [
            "--apple-api-issuer-id", "i", "--apple-api-key-id", "k", "--apple-api-key-file", "/k",
        ]
        let configuration = try ConfigurationLoader(inputs(leastArguments + arguments))
            .configuration()
        return try #require(configuration.appStoreAPI)
    }

    @Test func `a key on P-256 is taken`() throws {
        let pem = try SigningKey(generatedOn: .p256).pem()
        let key = try NamedFile.appStoreKey(try settings(), by: reading(pem))
        #expect(key.issuerID == "i" && key.keyID == "k")
    }

    @Test func `a key on another curve is refused, and what to use is said`() throws {
        let pem = try SigningKey(generatedOn: .p384).pem()
        let settings = try settings()
        let found = message { () throws(ConfigurationFailure) in
            _ = try NamedFile.appStoreKey(settings, by: reading(pem))
        }
        #expect(found.contains("`/k`") && found.contains("P-256") && found.contains(".p8"))
    }

    @Test(arguments: ["nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
    func `what is no key is refused, and not shown`(text: String) throws {
        let settings = try settings()
        let found = message { () throws(ConfigurationFailure) in
            _ = try NamedFile.appStoreKey(settings, by: reading(Array(text.utf8)))
        }
        #expect(found.contains("no private key in PEM"))
        #expect(!found.contains("AAAA") && !found.contains("nonsense"))
    }

    @Test func `the longest file is read, a longer one and an empty one are refused`() throws {
        let longest = [UInt8](repeating: 0x2D, count: NamedFile.byteCountMax)
        #expect(try NamedFile.read("a file", at: "/f", by: reading(longest)).count == longest.count)
        for (file, text) in [(longest + [0], "too long"), ([], "empty")] {
            let found = message { () throws(ConfigurationFailure) in
                _ = try NamedFile.read("a file", at: "/f", by: reading(file))
            }
            #expect(found == "a file in `/f`: the file is \(text)")
        }
    }

    @Test(arguments: [FileReadError.notFound, .noPermission])
    func `a file that cannot be read is refused`(error: FileReadError) {
        let found = message { () throws(ConfigurationFailure) in
            _ = try NamedFile.read("a file", at: "/f", by: reading(nil, error))
        }
        #expect(found == "a file in `/f`: \(error.text)")
    }

    @Test func `certificates are PEM`() throws {
        let pem = try testRoot().pem
        #expect(try NamedFile.pem("a file", at: "/f", by: reading(pem)) == pem)
        let der = try testRoot().der
        let found = message { () throws(ConfigurationFailure) in
            _ = try NamedFile.pem("a file", at: "/f", by: reading(der))
        }
        #expect(found == "a file in `/f`: this is not PEM")
    }
}
