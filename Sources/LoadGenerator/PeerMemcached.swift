internal import Wire

/// `get` of a customer's value, in memcached's text protocol.
struct PeerMemcached: LoadDialogue {
    private var exchange: PeerExchange

    private static let ending: [UInt8] = Array("END\r\n".utf8)
    private static let value: [UInt8] = Array("VALUE ".utf8)

    init(_ customers: PeerCustomers) {
        exchange = PeerExchange(customers)
        exchange.request.add("get ")
        exchange.request.addName()
        exchange.request.add("\r\n")
        exchange.answer.add(Self.value)
        exchange.answer.addName()
        exchange.answer.add(" 0 \(PeerPopulation.valueByteCount)\r\n")
        exchange.answer.addValue()
        exchange.answer.add("\r\n")
        exchange.answer.add(Self.ending)
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        exchange.appendRequest(to: &output)
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        exchange.takeAll(
            input, &ledger, whenWrong: "memcached did not answer with the value",
            whenMeaningless: "this is no answer of memcached"
        ) { input, start in Self.reply(in: input, from: start) }
    }

    /// The extent of the answer that begins at `start`: `VALUE key flags count`, as many bytes and
    /// `END`; or one line, which says that there is nothing or what went wrong.
    static func reply(in input: Span<UInt8>, from start: Int) -> PeerText.Reply {
        guard let lineEnd = PeerText.lineEnd(in: input, from: start) else {
            return input.count - start > PeerText.lineByteCountMax ? .meaningless : .incomplete
        }
        guard ByteComparison.has(input, value.span, at: start) else { return .ends(lineEnd) }
        var countStart = lineEnd - 2
        while countStart > start, input[countStart - 1] != UInt8(ascii: " ") { countStart -= 1 }
        guard let count = PeerText.number(in: input, from: countStart, to: lineEnd - 2) else {
            return .meaningless
        }
        let dataEnd = lineEnd + count + 2
        let end = dataEnd + ending.count
        guard end <= input.count else { return .incomplete }
        return ByteComparison.has(input, ending.span, at: dataEnd) ? .ends(end) : .meaningless
    }
}
