internal import ToolSupport

/// One run of a command: flags, operands, where to write.
struct Bench: Sendable {
    /// What the tool was asked.
    let call: ToolProgram<Bench>.Call
    /// `--output json`.
    let isJSON: Bool

    /// - Throws: `CommandFailure` when `--output` is wrong.
    init(_ call: ToolProgram<Bench>.Call) throws(CommandFailure) {
        self.call = call
        isJSON = try call.isJSON()
    }

    /// The flag of `apiKey()`.
    static let keyFile = Flag.value(
        "key-file", "FILE", "of --target: the API key to show to it",
        variable: "ENTITLEBENCH_KEY_FILE")

    /// What --target is shown; empty = nothing.
    ///
    /// - Throws: `CommandFailure` when the file that is named holds no key.
    func apiKey() throws(CommandFailure) -> String {
        try ServerKey.read(value("key-file"), environment["ENTITLEBENCH_KEY_FILE"])
    }

    var operands: [String] { call.operands }
    var console: Console { call.console }
    var environment: [String: String] { call.environment }

    /// The value of a flag; nil when it is not given.
    func value(_ flag: String) -> String? { call.flags[flag] }

    /// Whether a flag without a value is given.
    func has(_ flag: String) -> Bool { call.flags[flag] != nil }

    /// The whole number of a flag; nil when it is not given. `20k` and `10m` are thousands and
    /// millions.
    ///
    /// - Throws: `CommandFailure` when the value is none within `range`.
    func number(_ flag: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = call.flags[flag] else { return nil }
        guard let number = Self.whole(text), range.contains(number) else {
            throw CommandFailure(
                .usage,
                "--\(flag): `\(text)` is no whole number from \(range.lowerBound) to"
                    + " \(range.upperBound)")
        }
        return number
    }

    /// The number of a flag, which may have decimals; nil when it is not given.
    ///
    /// - Throws: `CommandFailure` when the value is none within `range`.
    func decimal(
        _ flag: String, in range: ClosedRange<Double>
    ) throws(CommandFailure) -> Double? {
        guard let text = call.flags[flag] else { return nil }
        let number = Self.whole(text).map(Double.init) ?? Double(text)
        guard let number, range.contains(number) else {
            throw CommandFailure(
                .usage,
                "--\(flag): `\(text)` is no number from \(range.lowerBound) to"
                    + " \(range.upperBound)")
        }
        return number
    }

    /// The processors of a flag, such as `0` or `2-5,7`; empty when it is not given.
    ///
    /// - Throws: `CommandFailure` when the value is no list of those that this process may use.
    func processors(_ flag: String) throws(CommandFailure) -> [Int] {
        guard let text = call.flags[flag] else { return [] }
        let available = Processors.available
        guard let numbers = Self.list(text), numbers.allSatisfy({ available.contains($0) }) else {
            throw CommandFailure(
                .usage, "--\(flag): `\(text)` is no list of processors such as 0 or 2-5,7",
                hint: "this process may use \(available.map(String.init).joined(separator: ","))")
        }
        return numbers
    }

    /// `20000`, `20k`, `10m`.
    static func whole(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits) else { return nil }
        let factor: Int
        switch text.dropFirst(digits.count) {
        case "": factor = 1
        case "k": factor = 1_000
        case "m": factor = 1_000_000
        default: return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }

    /// `2-5,7` as 2, 3, 4, 5, 7; nil when it is no such list or has more than 1,024 numbers.
    static func list(_ text: String) -> [Int]? {
        var numbers: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
                .map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int($0) : nil }
            guard (1...2).contains(ends.count), let first = ends.first ?? nil,
                let last = ends.last ?? nil, first <= last, last < 1_024
            else { return nil }
            numbers.formUnion(first...last)
        }
        return numbers.sorted()
    }
}
