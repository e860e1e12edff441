internal import Wire

/// GET of a customer's value, in the protocol of Redis (RESP 2).
struct PeerRedis: LoadDialogue {
    private var customers: PeerCustomers
    private var request = PeerTemplate()
    private var answer = PeerTemplate()

    init(_ customers: PeerCustomers) {
        self.customers = customers
        request.add("*2\r\n$3\r\nGET\r\n$\(PeerPopulation.nameByteCount)\r\n")
        request.addName()
        request.add("\r\n")
        answer.add("$\(PeerPopulation.valueByteCount)\r\n")
        answer.addValue()
        answer.add("\r\n")
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        let customer = customers.next()
        request.fill(customer)
        output.append(request.bytes.span)
        return customer
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        var position = 0
        while position < input.count {
            switch Self.reply(in: input, from: position) {
            case .incomplete: return position
            case .meaningless:
                ledger.fail("this is no reply of Redis")
                return position
            case .ends(let end):
                guard let customer = ledger.answerOldest() else { return position }
                let found = input.extracting(position..<end)
                answer.fill(customer)
                if !ByteComparison.isEqual(found, answer.bytes.span) {
                    ledger.reportWrong(
                        "Redis did not answer with the value", expected: answer.bytes,
                        found: found)
                }
                position = end
            }
        }
        return position
    }

    /// Where a reply ends.
    enum Reply: Equatable {
        case incomplete
        case meaningless
        case ends(Int)
    }

    /// The extent of the reply that begins at `start`: a line, or a line with a byte count and so
    /// many bytes behind it.
    static func reply(in input: Span<UInt8>, from start: Int) -> Reply {
        guard let lineEnd = PeerText.lineEnd(in: input, from: start) else {
            return input.count - start > PeerText.lineByteCountMax ? .meaningless : .incomplete
        }
        switch input[start] {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"): return .ends(lineEnd)
        case UInt8(ascii: "$"):
            // "$-1": there is no such key.
            if input[start + 1] == UInt8(ascii: "-") { return .ends(lineEnd) }
            guard let count = PeerText.number(in: input, from: start + 1, to: lineEnd - 2) else {
                return .meaningless
            }
            let end = lineEnd + count + 2
            return end <= input.count ? .ends(end) : .incomplete
        default: return .meaningless
        }
    }
}
