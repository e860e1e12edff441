import Testing

@testable import entitled

@Suite struct SharedSecretTests {
    private func load(
        _ file: [UInt8]?, unreadable: [String: FileReadError] = [:], named: Bool = true
    ) throws -> [UInt8]? {
        let inputs = inputs(
            leastArguments + (named ? ["--v1-shared-secret-file", "/s"] : []),
            files: file.map { ["/s": $0] } ?? [:], unreadable: unreadable)
        let configuration = try ConfigurationLoader(inputs).configuration()
        return try SharedSecret.load(configuration, readFile: inputs.readFile)
    }

    @Test(arguments: [
        ("abc", "abc"), ("abc\n", "abc"), ("abc\r\n\n", "abc"), (" a b ", " a b "),
        ("\nabc", "\nabc"),
    ])
    func `the secret is the file without the line feeds at its end`(
        file: String, secret: String
    ) throws {
        #expect(try load(Array(file.utf8)) == Array(secret.utf8))
    }

    @Test func `no file is no secret`() throws {
        #expect(try load(nil, named: false) == nil)
    }

    @Test(arguments: [[], Array("\n".utf8), Array(repeating: 0x61, count: 4_097)] as [[UInt8]])
    func `a file without a secret is refused`(file: [UInt8]) throws {
        let failure = try #require(throws: ConfigurationFailure.self) { try load(file) }
        #expect(failure.exitCode == .configuration)
        #expect(!failure.problems[0].message.contains("aaaa"))
    }

    @Test(arguments: [FileReadError.notFound, .noPermission, .other("it is a directory")])
    func `a file that cannot be read is refused`(error: FileReadError) throws {
        let failure = try #require(throws: ConfigurationFailure.self) {
            try load(nil, unreadable: ["/s": error])
        }
        #expect(failure.problems.map(\.message) == ["the shared secret in `/s`: \(error.text)"])
    }
}
