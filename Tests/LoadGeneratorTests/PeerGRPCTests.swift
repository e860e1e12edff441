import Testing
import Wire

@testable import LoadGenerator

/// Against what gRPC C++ 1.51 sent when it was asked the same: recorded bytes, in which only the
/// number of the stream and the digits of the customer are filled in.
@Suite struct PeerGRPCTests {
    /// SETTINGS, WINDOW_UPDATE, and the acknowledgement of ours.
    private static let greeting = hexadecimal(
        "0000180400000000000004003fffff0005003fffff000600002000fe03000000010000040800000000"
            + "00003f0000000000040100000000")
    /// Before the first answer: PING.
    private static let ping = hexadecimal("0000080600000000000000000000000000")
    private static let firstHeaders = hexadecimal(
        "00004e0104SSSSSSSS88400c636f6e74656e742d74797065106170706c69636174696f6e2f6772706340"
            + "14677270632d6163636570742d656e636f64696e67176964656e746974792c206465666c6174652c"
            + "20677a6970")
    private static let laterHeaders = hexadecimal("0000030104SSSSSSSS88c0bf")
    private static let message = hexadecimal(
        "0000590000SSSSSSSS0000000054" + "0801100118012080b08fe6b277"
            + "2a1d636f6d2e6578616d706c652e6d6561646f772e706c75732e6d6f6e7468"
            + "3210DDDDDDDD3a10DDDDDDDD40a09c01")
    private static let firstTrailers = hexadecimal(
        "00000f0105SSSSSSSS400b677270632d7374617475730130")
    private static let laterTrailers = hexadecimal("0000010105SSSSSSSSbe")
    /// A request that the server could not parse.
    private static let refusal = hexadecimal(
        "0000620105SSSSSSSS00073a73746174757303323030000c636f6e74656e742d747970651061"
            + "70706c69636174696f6e2f67727063000b677270632d737461747573023133000c677270632d6d"
            + "65737361676517556e61626c6520746f2070617273652072657175657374")

    /// A recorded byte, or what stands for some: a byte of a stream's number, four of a
    /// transaction's digits.
    private enum Recorded: Equatable {
        case byte(UInt8)
        case stream
        case digits
    }

    private static func hexadecimal(_ text: String) -> [Recorded] {
        let characters = Array(text)
        return stride(from: 0, to: characters.count, by: 2).map { index in
            switch characters[index] {
            case "S": .stream
            case "D": .digits
            default: .byte(UInt8(String(characters[index...index + 1]), radix: 16) ?? 0)
            }
        }
    }

    /// The bytes of a recording for a call; a transaction is 2 and 15 digits, 16 bytes, which the
    /// recording has as four of D.
    private static func bytes(_ recorded: [Recorded], call: Int = 0, _ customer: UInt64 = 0)
        -> [UInt8]
    {
        let digits = String(customer)
        let transaction =
            Array(("2" + String(repeating: "0", count: 15 - digits.count) + digits).utf8)
        var streams = 0
        var places = 0
        return recorded.flatMap { item -> [UInt8] in
            switch item {
            case .byte(let byte): return [byte]
            case .stream:
                streams += 1
                return [bigEndian(UInt32(call * 2 + 3))[(streams - 1) % 4]]
            case .digits:
                places += 1
                return Array(transaction[((places - 1) % 4 * 4)...].prefix(4))
            }
        }
    }

    private let conversation: PeerConversation<PeerGRPC>

    init() {
        conversation = PeerConversation(
            PeerGRPC(testCustomers(20_000), customerCount: 20_000, depth: 3),
            greetedBy: Self.bytes(Self.greeting), requestCount: 3)
    }

    private func answer(_ call: Int, _ customer: UInt64) -> [UInt8] {
        Self.bytes(call == 0 ? Self.firstHeaders : Self.laterHeaders, call: call)
            + Self.bytes(Self.message, call: call, customer)
            + Self.bytes(call == 0 ? Self.firstTrailers : Self.laterTrailers, call: call)
    }

    private var rightAnswers: [UInt8] {
        conversation.customers.enumerated().flatMap { answer($0.offset, $0.element) }
    }

    @Test func `the greeting is the preface, settings and credit`() {
        let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
        #expect(
            conversation.greeting == preface
                + [0, 0, 12, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 4, 0, 0x10, 0, 0]
                + [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x40, 0, 0, 0])
    }

    @Test func `the server's settings are acknowledged, and awaited`() {
        let greeting = Self.bytes(Self.greeting)
        var dialogue = PeerGRPC(testCustomers(), customerCount: 1, depth: 1)
        var output = OutputBuffer()
        let early = dialogue.takeGreeting(Array(greeting[..<32]).span, to: &output)
        #expect(early == .more(consumed: 0))
        let isSilent = output.isEmpty
        #expect(isSilent)
        let step = dialogue.takeGreeting(greeting.span, to: &output)
        #expect(step == .done(consumed: 33))
        let acknowledgementByteCount = output.count
        #expect(acknowledgementByteCount == 9)
    }

    @Test func `a server with room for fewer calls, or another server, refuses`() {
        func step(_ bytes: [UInt8]) -> GreetingStep {
            var dialogue = PeerGRPC(testCustomers(), customerCount: 1, depth: 101)
            var output = OutputBuffer()
            return dialogue.takeGreeting(bytes.span, to: &output)
        }
        let few = step([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100])
        #expect(few == .refused("the server takes only 100 calls at a time"))
        let enough = step([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 101])
        #expect(enough == .done(consumed: 15))
        let other = step([UInt8](repeating: 65, count: PeerGRPCFrames.bodyByteCountMax + 1))
        #expect(other == .refused("this is no HTTP/2 server"))
    }

    @Test func `the first call has its headers whole, the others have them as numbers`() {
        let requests = conversation.requests
        let path = Array("/entitled.v1.Entitlements/CheckAccess".utf8)
        #expect(requests.firstRange(of: path)?.lowerBound == 9 + 4)
        #expect(requests[9...11] == [0x83, 0x86, 0x44])
        let message = 9 + 5 + 4 + 40 + 2 + 29
        #expect(
            requests.suffix(message + 15).prefix(15) == [
                0, 0, 6, 1, 4, 0, 0, 0, 7, 0x83, 0x86, 0xC1, 0xC0, 0xBF, 0xBE,
            ])
        let name = Array(testName(conversation.customers[2]).utf8)
        let last = Array(requests.suffix(message))
        #expect(last.prefix(9) == [0, 0, 80, 0, 1, 0, 0, 0, 7])
        #expect(last.firstRange(of: name)?.lowerBound == 9 + 5 + 4)
    }

    @Test func `right answers are taken wherever they are split`() {
        let isSame = conversation.isSame(.init(answerCount: 3), on: rightAnswers)
        #expect(isSame)
    }

    @Test func `answers may come in another order, and their frames between each other`() {
        let customers = conversation.customers
        // With two headers in the table instead of three their numbers are one less.
        let mixed =
            Self.bytes(Self.firstHeaders) + [0, 0, 3, 1, 4, 0, 0, 0, 7, 0x88, 0xBF, 0xBE]
            + Self.bytes(Self.message, call: 2, customers[2])
            + Self.bytes(Self.message, call: 0, customers[0])
            + Self.bytes(Self.firstTrailers, call: 2) + Self.bytes(Self.laterTrailers, call: 0)
            + answer(1, customers[1])
        let isSame = conversation.isSame(.init(answerCount: 3), on: mixed)
        #expect(isSame)
    }

    @Test func `a ping is answered, and settings that come later are acknowledged`() {
        let later: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        let verdict = conversation.verdict(on: Self.bytes(Self.ping) + later)
        #expect(
            verdict.output == [0, 0, 8, 6, 1, 0, 0, 0, 0] + Array(repeating: 0, count: 8)
                + [0, 0, 0, 4, 1, 0, 0, 0, 0])
    }

    @Test func `another customer's message is a wrong answer`() {
        let customers = conversation.customers
        let answers = answer(0, customers[0]) + answer(1, customers[1] + 1)
        let verdict = conversation.verdict(on: answers)
        #expect(verdict.answerCount == 2)
        #expect(verdict.wrong.first == "the message of a call is not the customer's")
    }

    @Test func `a call that the server refuses is a wrong answer`() {
        let verdict = conversation.verdict(on: Self.bytes(Self.refusal))
        #expect(verdict.answerCount == 1)
        #expect(verdict.wrong == ["a call did not end with grpc-status 0"])
        #expect(verdict.failure == nil)
    }

    @Test func `a call without a message, and one that is broken off, are wrong answers`() {
        let answers =
            Self.bytes(Self.firstHeaders) + Self.bytes(Self.firstTrailers)
            + [0, 0, 4, 3, 0, 0, 0, 0, 5, 0, 0, 0, 2]
        let verdict = conversation.verdict(on: answers)
        #expect(verdict.answerCount == 2)
        #expect(verdict.wrong == ["a call without its message", "the server broke off a call"])
    }

    @Test func `an answer that comes twice is wrong`() {
        let first = answer(0, conversation.customers[0])
        let verdict = conversation.verdict(on: first + Self.bytes(Self.laterTrailers))
        #expect(verdict.answerCount == 1)
        #expect(verdict.wrong.count == 1)
    }

    @Test(
        arguments: [
            [0, 0, 0, 7, 0, 0, 0, 0, 0], [0, 0, 0, 9, 4, 0, 0, 0, 3],
            [0, 0, 1, 1, 4, 0, 0, 0, 3, 0xFE],
            [0, 0, 1, 1, 0, 0, 0, 0, 3, 0x88],
        ] as [[UInt8]])
    func `a goodbye and frames that cannot be read end the run`(frame: [UInt8]) {
        #expect(conversation.verdict(on: frame).failure != nil)
    }

    @Test func `frames of kinds not known are ignored`() {
        let unknown: [UInt8] = [0, 0, 1, 99, 0, 0, 0, 0, 0, 1]
        let isSame = conversation.isSame(.init(answerCount: 3), on: unknown + rightAnswers)
        #expect(isSame)
    }
}
