internal import Wire

/// What every peer is filled with: the same customers under the same names of 40 bytes, each with a
/// value of 28 bytes that follows from his number, so that every answer can be checked.
///
/// 28 bytes hold what `entitled` keeps of a verdict (reason, ownership, a boundary, two ids) when
/// it is packed; a key-value store would be given about as much.
enum PeerPopulation {
    /// Before the digits of a name.
    static let namePrefix = "customer-"
    /// Digits of a name, with zeros in front.
    static let nameDigitCount = 31
    /// Before the digits of a value.
    static let valuePrefix = "verdict-"
    /// Digits of a value, with zeros in front.
    static let valueDigitCount = 20
    /// Bytes of a name.
    static var nameByteCount: Int { namePrefix.utf8.count + nameDigitCount }
    /// Bytes of a value.
    static var valueByteCount: Int { valuePrefix.utf8.count + valueDigitCount }
}

/// Draws customers, each as likely as any other.
struct PeerCustomers {
    private let count: UInt64
    private var random: RandomSource

    /// A source of customers; connections draw different ones, and the same in every run.
    init(count: Int, place: ConnectionPlace) {
        precondition((1...PeerScript.customerCountMax).contains(count))
        self.count = UInt64(count)
        random = RandomSource(seed: place.seed &+ UInt64(place.index))
    }

    /// The number of a customer, from 0.
    @inline(__always)
    mutating func next() -> UInt64 { random.below(count) }
}

/// Bytes that are always the same but for a customer's digits in some places.
struct PeerTemplate {
    private(set) var bytes: [UInt8] = []
    /// Behind the last digit of each place.
    private var digitEnds: [Int] = []
    /// Digits that are ever other than zero: numbers stay below `PeerScript.customerCountMax`.
    private static let writtenDigitCount = 8

    /// Adds text as it is.
    mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Adds bytes as they are.
    mutating func add(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Adds a place for `count` digits, at least eight.
    mutating func addDigits(_ count: Int) {
        precondition(count >= Self.writtenDigitCount)
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: count))
        digitEnds.append(bytes.count)
    }

    /// Adds the name of a customer.
    mutating func addName() {
        add(PeerPopulation.namePrefix)
        addDigits(PeerPopulation.nameDigitCount)
    }

    /// Adds the value of a customer.
    mutating func addValue() {
        add(PeerPopulation.valuePrefix)
        addDigits(PeerPopulation.valueDigitCount)
    }

    /// Adds a number of four bytes, big-endian.
    mutating func addInteger(_ value: Int) { add(bigEndian(UInt32(value))) }

    /// Writes the digits of `customer` everywhere.
    mutating func fill(_ customer: UInt64) {
        for end in digitEnds {
            var rest = UInt32(customer)
            for position in stride(from: end - 1, through: end - Self.writtenDigitCount, by: -1) {
                bytes[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
        }
    }

    /// Overwrites four bytes, big-endian.
    mutating func set(_ value: UInt32, at position: Int) {
        for (offset, byte) in bigEndian(value).enumerated() { bytes[position + offset] = byte }
    }
}

/// Requests that name a customer, and the answers that they get, byte for byte: what a protocol in
/// which answers come in the order of requests is made of.
struct PeerExchange {
    private var customers: PeerCustomers
    var request = PeerTemplate()
    var answer = PeerTemplate()

    init(_ customers: PeerCustomers) { self.customers = customers }

    /// Appends the request of the next customer, and tells who that is.
    mutating func appendRequest(to output: inout OutputBuffer) -> UInt64 {
        let customer = customers.next()
        request.fill(customer)
        output.append(request.bytes.span)
        return customer
    }

    /// Compares an answer with that of the oldest request; false when none waits for one.
    mutating func check(
        _ found: Span<UInt8>, _ ledger: inout AnswerLedger, whenWrong complaint: String
    ) -> Bool {
        guard let customer = ledger.answerOldest() else { return false }
        answer.fill(customer)
        if !ByteComparison.isEqual(found, answer.bytes.span) {
            ledger.reportWrong(complaint, expected: answer.bytes, found: found)
        }
        return true
    }

    /// Takes the whole answers at the front of `input`; `extent` says where one ends.
    ///
    /// - Returns: how many bytes were taken.
    mutating func takeAll(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, whenWrong complaint: String,
        whenMeaningless failure: String, extent: (Span<UInt8>, Int) -> PeerText.Reply
    ) -> Int {
        var position = 0
        while position < input.count {
            switch extent(input, position) {
            case .incomplete: return position
            case .meaningless:
                ledger.fail(failure)
                return position
            case .ends(let end):
                let found = input.extracting(position..<end)
                guard check(found, &ledger, whenWrong: complaint) else { return position }
                position = end
            }
        }
        return position
    }
}

/// The four bytes of a number, the highest first.
func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}

/// Reading the peers' protocols.
enum PeerText {
    /// Where an answer ends.
    enum Reply: Equatable {
        case incomplete
        case meaningless
        case ends(Int)
    }

    /// No line of these protocols is longer than this, in bytes.
    static let lineByteCountMax = 4_096

    /// Behind the CR LF of the line that begins at `start`; nil when it is not there yet.
    static func lineEnd(in text: Span<UInt8>, from start: Int) -> Int? {
        var position = start + 1
        while position < text.count {
            if text[position] == UInt8(ascii: "\n"), text[position - 1] == UInt8(ascii: "\r") {
                return position + 1
            }
            position += 1
        }
        return nil
    }

    /// The number in decimal digits that stands in `text` from `start` to before `end`; nil when
    /// something else does, or more than nine digits.
    static func number(in text: Span<UInt8>, from start: Int, to end: Int) -> Int? {
        guard start < end, end - start <= 9 else { return nil }
        var value = 0
        for position in start..<end {
            let digit = Int(text[position]) - Int(UInt8(ascii: "0"))
            guard (0...9).contains(digit) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// Four bytes at `position`, the highest first.
    static func integer(in text: Span<UInt8>, at position: Int) -> Int {
        Int(text[position]) << 24 | Int(text[position + 1]) << 16
            | Int(text[position + 2]) << 8 | Int(text[position + 3])
    }
}
