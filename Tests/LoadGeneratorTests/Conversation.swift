import Testing
import Wire

@testable import LoadGenerator

/// One connection without a socket: what a dialogue says, and what it makes of answers.
struct Conversation<Dialogue: LoadDialogue & ~Copyable>: ~Copyable {
    var dialogue: Dialogue
    var ledger: AnswerLedger
    private let box = TallyBox()

    init(_ dialogue: consuming Dialogue, depth: Int = 64) {
        ledger = box.ledger(depth: depth)
        self.dialogue = dialogue
    }

    /// Sends so many requests; all the bytes.
    mutating func send(_ count: Int, intended: UInt64 = 0) -> [UInt8] {
        var output = OutputBuffer()
        for _ in 0..<count {
            let number = ledger.nextNumber()
            let subject = dialogue.appendRequest(number, to: &output)
            ledger.send(number, intended: intended, subject: subject)
        }
        return Array(output.bytes)
    }

    /// Hands `pieces` over one after the other, as a driver does: what was not taken comes again.
    mutating func take(_ pieces: [[UInt8]]) {
        var held: [UInt8] = []
        var output = OutputBuffer()
        for piece in pieces {
            held += piece
            let consumed = dialogue.take(held.span, &ledger, to: &output)
            held.removeFirst(consumed)
        }
    }

    /// What came of it.
    var result: ConversationResult {
        let tally = box.tally
        return ConversationResult(
            answerCount: tally.answerCount, checkCount: tally.checkCount,
            wrongCount: tally.wrongCount, inFlightCount: ledger.inFlightCount,
            failure: ledger.failure, wrongAnswers: tally.wrongAnswers)
    }
}

/// What came of a conversation.
struct ConversationResult: Equatable {
    var answerCount: UInt64
    var checkCount: UInt64
    var wrongCount: UInt64
    var inFlightCount: Int
    var failure: String?
    var wrongAnswers: [WrongAnswer]
}

/// Frames taken apart and put together by protobuf-c, which the generator does not use.
enum Frames {
    /// The bodies of whole frames.
    static func bodies(_ bytes: [UInt8]) -> [[UInt8]] {
        var bodies: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            bodies.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return bodies
    }

    static func requests(_ bytes: [UInt8]) throws -> [Request] {
        try bodies(bytes).map { try Request(decoding: $0.span, in: MessageArena()) }
    }

    static func encode(_ response: Response) throws -> [UInt8] {
        var output = OutputBuffer()
        try response.encodeFrame(
            into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
        return Array(output.bytes)
    }

    static func encode(_ request: Request) throws -> [UInt8] {
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
        return Array(output.bytes)
    }

    /// `bytes` whole, byte by byte, and cut in two at every place.
    static func ways(_ bytes: [UInt8]) -> [[[UInt8]]] {
        [[bytes], bytes.map { [$0] }]
            + (1..<max(bytes.count, 2)).map {
                [Array(bytes.prefix($0)), Array(bytes.dropFirst($0))]
            }
    }
}

/// A small population, and a server that knows it: written apart from the templates.
enum SmallWorld {
    static let population = CheckPopulation(
        bundleID: "com.example.meadow", customerCount: 1_000, namePrefix: "customer-",
        nameDigitCount: 31,
        shapes: [
            CheckPopulation.Shape(
                productID: "plus.year", granted: true, reason: 1, ownership: 1,
                validUntilMilliseconds: 4_070_908_800_000, answeredProductID: "plus.year",
                transactionIDs: .init(first: 200_000_000_000_001, step: 65_536),
                originalTransactionIDs: .init(first: 200_000_000_000_000, step: 65_536)),
            CheckPopulation.Shape(
                productID: "family.of.six.year", granted: false, reason: 16, ownership: 2,
                validUntilMilliseconds: 0, answeredProductID: "family.of.six.year",
                transactionIDs: .init(first: 300_000_000_000_001, step: 7),
                originalTransactionIDs: nil),
            CheckPopulation.Shape(
                productID: "plus.year", granted: false, reason: 10, ownership: 0,
                validUntilMilliseconds: 0, answeredProductID: "", transactionIDs: nil,
                originalTransactionIDs: nil),
        ],
        shape: { $0 % 3 })

    /// The answer to one check.
    static func answer(_ check: Message.CheckAccessRequest) throws -> Message.CheckAccessResponse {
        guard case .customerID(let name)? = check.customer,
            let index = Int(name.description.suffix(31))
        else { throw WireError.emptyFrame }
        #expect(name.description.hasPrefix("customer-") && name.bytes.count == 40)
        #expect(check.scope?.bundleID == "com.example.meadow")
        var answer = Message.CheckAccessResponse()
        answer.revision = 12_345
        switch index % 3 {
        case 0:
            #expect(check.subject == .product("plus.year"))
            answer.granted = true
            answer.reason = .active
            answer.ownership = .purchased
            answer.validUntilMilliseconds = 4_070_908_800_000
            answer.productID = "plus.year"
            answer.transactionID = Text(String(200_000_000_000_001 + index * 65_536))
            answer.originalTransactionID = Text(String(200_000_000_000_000 + index * 65_536))
        case 1:
            #expect(check.subject == .product("family.of.six.year"))
            answer.reason = .familyRefunded
            answer.ownership = .familyShared
            answer.productID = "family.of.six.year"
            answer.transactionID = Text(String(300_000_000_000_001 + index * 7))
        default:
            answer.reason = .unknownCustomer
        }
        return answer
    }

    /// The answer to one request.
    static func response(to request: Request) throws -> Response {
        switch request.call {
        case .checkAccess(let check)?:
            return Response(id: request.id, result: .checkAccess(try answer(check)))
        case .checkAccessBatch(let checks)?:
            var batch = Message.CheckAccessBatchResponse()
            batch.results = try checks.map(answer)
            batch.revision = 12_345
            return Response(id: request.id, result: .checkAccessBatch(batch))
        default: throw WireError.emptyFrame
        }
    }

    /// The answers to all requests in `bytes`.
    static func answers(_ bytes: [UInt8]) throws -> [[UInt8]] {
        try Frames.requests(bytes).map { try Frames.encode(response(to: $0)) }
    }
}
