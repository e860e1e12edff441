internal import Wire

/// GET of a customer's value, in the protocol of Redis (RESP 2).
struct PeerRedis: LoadDialogue {
    private var exchange: PeerExchange

    init(_ customers: PeerCustomers) {
        exchange = PeerExchange(customers)
        exchange.request.add("*2\r\n$3\r\nGET\r\n$\(PeerPopulation.nameByteCount)\r\n")
        exchange.request.addName()
        exchange.request.add("\r\n")
        exchange.answer.add("$\(PeerPopulation.valueByteCount)\r\n")
        exchange.answer.addValue()
        exchange.answer.add("\r\n")
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        exchange.appendRequest(to: &output)
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        exchange.takeAll(
            input, &ledger, whenWrong: "Redis did not answer with the value",
            whenMeaningless: "this is no reply of Redis"
        ) { input, start in Self.reply(in: input, from: start) }
    }

    /// The extent of the reply that begins at `start`: a line, or a line with a byte count and so
    /// many bytes behind it.
    static func reply(in input: Span<UInt8>, from start: Int) -> PeerText.Reply {
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
