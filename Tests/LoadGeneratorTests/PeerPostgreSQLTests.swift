import Testing
import Wire

@testable import LoadGenerator

@Suite struct PeerPostgreSQLTests {
    /// AuthenticationOk, a setting, the key of a cancellation, ReadyForQuery; then ParseComplete
    /// and ReadyForQuery.
    private static let welcome =
        message("R", [0, 0, 0, 0]) + message("S", Array("server_version\015\0".utf8))
        + message("K", [0, 0, 0, 1, 0, 0, 0, 2]) + message("Z", Array("I".utf8))
        + message("1", []) + message("Z", Array("I".utf8))

    private let conversation = PeerConversation(
        PeerPostgreSQL(testCustomers()), greetedBy: welcome, requestCount: 3)

    private static func message(_ kind: String, _ body: [UInt8]) -> [UInt8] {
        Array(kind.utf8) + bigEndian(UInt32(body.count + 4)) + body
    }

    private func row(_ value: String) -> [UInt8] {
        Self.message("2", [])
            + Self.message(
                "D", [0, 1] + bigEndian(UInt32(value.utf8.count)) + Array(value.utf8))
            + Self.message("C", Array("SELECT 1\0".utf8)) + Self.message("Z", Array("I".utf8))
    }

    @Test func `the greeting names user and database and prepares the query`() {
        let startup = Array("user\0postgres\0database\0postgres\0\0".utf8)
        let query = Array("s\0SELECT value FROM answers WHERE key = $1\0\0\0".utf8)
        let expected =
            bigEndian(UInt32(startup.count + 8)) + [0, 3, 0, 0] + startup
            + Self.message("P", query) + Self.message("S", [])
        #expect(conversation.greeting == expected)
    }

    @Test func `the greeting is over with the second ReadyForQuery, wherever it is split`() {
        for split in 0...Self.welcome.count {
            var dialogue = PeerPostgreSQL(testCustomers())
            var output = OutputBuffer()
            var rest = Array(Self.welcome[..<split])
            if split < Self.welcome.count {
                let step = dialogue.takeGreeting(rest.span, to: &output)
                guard case .more(let consumed) = step else {
                    Issue.record("\(step) after \(split) bytes")
                    continue
                }
                rest.removeFirst(consumed)
                rest += Self.welcome[split...]
            }
            let step = dialogue.takeGreeting(rest.span, to: &output)
            #expect(step == .done(consumed: rest.count))
        }
    }

    @Test func `a server that wants a password or another user refuses`() {
        func step(_ bytes: [UInt8]) -> GreetingStep {
            var dialogue = PeerPostgreSQL(testCustomers())
            var output = OutputBuffer()
            return dialogue.takeGreeting(bytes.span, to: &output)
        }
        let password = step(Self.message("R", [0, 0, 0, 10]))
        #expect(password == .refused("it wants a password; let it trust this address"))
        let error = step(Self.message("E", Array("SFATAL\0\0".utf8)))
        #expect(error == .refused("SFATAL  "))
        let other = step(Array("HTTP/1.1 400".utf8))
        #expect(other == .refused("this is no PostgreSQL server"))
    }

    @Test func `a request is Bind, Execute and Sync`() {
        let expected = conversation.customers.flatMap { customer in
            Self.message(
                "B",
                [0] + Array("s\0".utf8) + [0, 0, 0, 1] + bigEndian(40)
                    + Array(testName(customer).utf8) + [0, 0])
                + Self.message("E", [0, 0, 0, 0, 0]) + Self.message("S", [])
        }
        #expect(conversation.requests == expected)
    }

    @Test func `right rows are taken wherever they are split`() {
        let answers = conversation.customers.flatMap { row(testValue($0)) }
        let isSame = conversation.isSame(.init(answerCount: 3), on: answers)
        #expect(isSame)
    }

    @Test func `another row, no row and an error are wrong answers`() {
        let none =
            Self.message("2", []) + Self.message("C", Array("SELECT 0\0".utf8))
            + Self.message("Z", Array("I".utf8))
        let error =
            Self.message("E", Array("SERROR\0\0".utf8)) + Self.message("Z", Array("I".utf8))
        let expected = PeerConversation<PeerPostgreSQL>.Verdict(
            answerCount: 3,
            wrong: Array(repeating: "PostgreSQL did not answer with the row", count: 3))
        let isSame = conversation.isSame(
            expected, on: none + error + row(testValue(conversation.customers[2] + 1)))
        #expect(isSame)
    }

    @Test func `what is no message ends the run`() {
        let verdict = conversation.verdict(on: Array("HTTP/1.1 400".utf8))
        #expect(verdict.failure == "this is no message of PostgreSQL")
    }
}
