internal import Wire

/// `get` of a customer's value, in memcached's text protocol.
struct PeerMemcached: LoadDialogue {
    private var customers: PeerCustomers
    private var request = PeerTemplate()
    private var answer = PeerTemplate()

    private static let ending: [UInt8] = Array("END\r\n".utf8)
    private static let value: [UInt8] = Array("VALUE ".utf8)

    init(_ customers: PeerCustomers) {
        self.customers = customers
        request.add("get ")
        request.addName()
        request.add("\r\n")
        answer.add(Self.value)
        answer.addName()
        answer.add(" 0 \(PeerPopulation.valueByteCount)\r\n")
        answer.addValue()
        answer.add("\r\n")
        answer.add(Self.ending)
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
                ledger.fail("this is no answer of memcached")
                return position
            case .ends(let end):
                guard let customer = ledger.answerOldest() else { return position }
                let found = input.extracting(position..<end)
                answer.fill(customer)
                if !ByteComparison.isEqual(found, answer.bytes.span) {
                    ledger.reportWrong(
                        "memcached did not answer with the value", expected: answer.bytes,
                        found: found)
                }
                position = end
            }
        }
        return position
    }

    /// The extent of the answer that begins at `start`: `VALUE key flags count`, as many bytes and
    /// `END`; or one line, which says that there is nothing or what went wrong.
    static func reply(in input: Span<UInt8>, from start: Int) -> PeerRedis.Reply {
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
