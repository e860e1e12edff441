import Wire

@testable import LoadGenerator

/// A dialogue with a server that is played by a test: what it sends, and what it makes of answers
/// that come in pieces of any size.
struct PeerConversation<Dialogue: LoadDialogue> {
    /// What a dialogue made of answers.
    struct Verdict: Equatable {
        var answerCount: UInt64 = 0
        var wrong: [String] = []
        var failure: String?
        /// Bytes that were left at the end.
        var restByteCount = 0
        /// What it sent besides requests.
        var output: [UInt8] = []
    }

    private var dialogue: Dialogue
    private(set) var greeting: [UInt8] = []
    /// Whom each request asked for, in order; the first has number 1.
    private(set) var customers: [UInt64] = []
    /// All requests as they were sent.
    private(set) var requests: [UInt8] = []
    private let depth: Int

    /// Greets with `answer`, then sends `requestCount` requests.
    init(_ dialogue: Dialogue, greetedBy answer: [UInt8] = [], requestCount: Int) {
        self.dialogue = dialogue
        depth = max(1, requestCount)
        var output = OutputBuffer()
        self.dialogue.appendGreeting(to: &output)
        greeting = Self.bytes(of: output)
        if self.dialogue.hasGreeting {
            _ = self.dialogue.takeGreeting(answer.span, to: &output)
        }
        output.removeAll()
        for number in 0..<requestCount {
            customers.append(self.dialogue.appendRequest(UInt64(number) + 1, to: &output))
        }
        requests = Self.bytes(of: output)
    }

    /// What the dialogue makes of `answers` when they come in pieces that end at `splits`.
    func verdict(on answers: [UInt8], splitAt splits: [Int] = []) -> Verdict {
        var dialogue = dialogue
        let tally = UnsafeMutablePointer<LoadTally>.allocate(capacity: 1)
        unsafe tally.initialize(to: LoadTally())
        defer {
            unsafe tally.deinitialize(count: 1)
            unsafe tally.deallocate()
        }
        var ledger = unsafe AnswerLedger(depth: depth, tally: tally)
        for (index, customer) in customers.enumerated() {
            ledger.send(UInt64(index) + 1, intended: 0, subject: customer)
        }
        var output = OutputBuffer()
        var rest: [UInt8] = []
        var start = 0
        for end in splits + [answers.count] {
            rest += answers[start..<end]
            start = end
            let taken = dialogue.take(rest.span, &ledger, to: &output)
            rest.removeFirst(taken)
            if ledger.failure != nil { break }
        }
        return unsafe Verdict(
            answerCount: tally.pointee.answerCount,
            wrong: tally.pointee.wrongAnswers.map(\.what), failure: ledger.failure,
            restByteCount: rest.count, output: Self.bytes(of: output))
    }

    /// Whether the verdict on `answers` is `expected` wherever they are split in two.
    func isSame(_ expected: Verdict, on answers: [UInt8]) -> Bool {
        (0...answers.count).allSatisfy { verdict(on: answers, splitAt: [$0]) == expected }
            && verdict(on: answers, splitAt: Array(0..<answers.count)) == expected
    }

    private static func bytes(of output: borrowing OutputBuffer) -> [UInt8] {
        var bytes: [UInt8] = []
        let span = output.bytes
        for index in span.indices { bytes.append(span[index]) }
        return bytes
    }
}

/// Customers of a test: connection 0 of 1.
func testCustomers(_ count: Int = 1_000) -> PeerCustomers {
    PeerCustomers(count: count, place: ConnectionPlace(index: 0, count: 1, seed: 7))
}

/// The name of a customer, written apart from the code under test.
func testName(_ customer: UInt64) -> String {
    let digits = String(customer)
    return "customer-" + String(repeating: "0", count: 31 - digits.count) + digits
}

/// The value of a customer, written apart from the code under test.
func testValue(_ customer: UInt64) -> String {
    let digits = String(customer)
    return "verdict-" + String(repeating: "0", count: 20 - digits.count) + digits
}
