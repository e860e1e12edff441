internal import Wire

/// A prepared SELECT by primary key, in PostgreSQL's protocol, version 3.
///
/// The statement is parsed once per connection; each request is Bind, Execute and Sync, the least
/// that a driver sends. The server must trust the connection, and needs a table that the query
/// finds its value in.
///
/// See: https://www.postgresql.org/docs/15/protocol-flow.html
struct PeerPostgreSQL: LoadDialogue {
    /// What is prepared.
    static let query = "SELECT value FROM answers WHERE key = $1"
    /// Whom to come as, and where to.
    static let user = "postgres"
    static let database = "postgres"

    private static let statement = "s"
    /// ReadyForQuery comes once for the connection and once for the statement.
    private static let greetingReadyCount = 2
    private static let messageByteCountMax = 1 << 20

    private var exchange: PeerExchange
    private var readyCount = 0

    init(_ customers: PeerCustomers) {
        exchange = PeerExchange(customers)
        Self.addMessage("B", to: &exchange.request) { body in
            body.add("\0\(Self.statement)\0")
            // All parameters as text; one of them; its length and bytes; all results as text.
            body.add([0, 0, 0, 1])
            body.addInteger(PeerPopulation.nameByteCount)
            body.addName()
            body.add([0, 0])
        }
        Self.addMessage("E", to: &exchange.request) { $0.add([0, 0, 0, 0, 0]) }
        Self.addMessage("S", to: &exchange.request) { _ in }

        Self.addMessage("2", to: &exchange.answer) { _ in }
        Self.addMessage("D", to: &exchange.answer) { body in
            body.add([0, 1])
            body.addInteger(PeerPopulation.valueByteCount)
            body.addValue()
        }
        Self.addMessage("C", to: &exchange.answer) { $0.add("SELECT 1\0") }
        Self.addMessage("Z", to: &exchange.answer) { $0.add("I") }
    }

    /// Adds a message: its kind, its byte count without the kind, its body.
    private static func addMessage(
        _ kind: String, to template: inout PeerTemplate, _ body: (inout PeerTemplate) -> Void
    ) {
        template.add(kind)
        let start = template.bytes.count
        template.addInteger(0)
        body(&template)
        template.set(UInt32(template.bytes.count - start), at: start)
    }

    var hasGreeting: Bool { true }

    /// All at once: the server reads on when it has let us in.
    func appendGreeting(to output: inout OutputBuffer) {
        var greeting = PeerTemplate()
        greeting.addInteger(0)
        greeting.addInteger(3 << 16)
        greeting.add("user\0\(Self.user)\0database\0\(Self.database)\0\0")
        greeting.set(UInt32(greeting.bytes.count), at: 0)
        Self.addMessage("P", to: &greeting) { body in
            body.add("\(Self.statement)\0\(Self.query)\0")
            body.add([0, 0])
        }
        Self.addMessage("S", to: &greeting) { _ in }
        output.append(greeting.bytes.span)
    }

    mutating func takeGreeting(
        _ input: Span<UInt8>, to output: inout OutputBuffer
    ) -> GreetingStep {
        var position = 0
        while let end = Self.messageEnd(in: input, from: position) {
            guard end > 0 else { return .refused("this is no PostgreSQL server") }
            switch input[position] {
            case UInt8(ascii: "E"):
                return .refused(Self.text(input.extracting(position + 5..<end)))
            case UInt8(ascii: "R"):
                let code = end - position >= 9 ? PeerText.integer(in: input, at: position + 5) : -1
                guard code == 0 else {
                    return .refused("it wants a password; let it trust this address")
                }
            case UInt8(ascii: "Z"): readyCount += 1
            default: break
            }
            position = end
            if readyCount == Self.greetingReadyCount { return .done(consumed: position) }
        }
        return .more(consumed: position)
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        exchange.appendRequest(to: &output)
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        var position = 0
        var messageStart = 0
        while let end = Self.messageEnd(in: input, from: messageStart) {
            guard end > 0 else {
                ledger.fail("this is no message of PostgreSQL")
                return position
            }
            let kind = input[messageStart]
            messageStart = end
            guard kind == UInt8(ascii: "Z") else { continue }
            let isAwaited = exchange.check(
                input.extracting(position..<end), &ledger,
                whenWrong: "PostgreSQL did not answer with the row")
            guard isAwaited else { return position }
            position = end
        }
        return position
    }

    /// Behind the message that begins at `start`; nil when it is not there whole, 0 when its byte
    /// count is none.
    private static func messageEnd(in input: Span<UInt8>, from start: Int) -> Int? {
        guard input.count - start >= 5 else { return nil }
        let byteCount = PeerText.integer(in: input, at: start + 1)
        guard (4...messageByteCountMax).contains(byteCount) else { return 0 }
        let end = start + 1 + byteCount
        return end <= input.count ? end : nil
    }

    /// The fields of an error, for people.
    private static func text(_ fields: Span<UInt8>) -> String {
        var bytes: [UInt8] = []
        for index in fields.indices { bytes.append(fields[index] == 0 ? 32 : fields[index]) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
