internal import EventLoop

/// The values that a setting takes, and how they are written.
enum SettingKind: Equatable, Sendable {
    /// Text of at most this many bytes of UTF-8, at least one.
    case text(byteCountMax: Int)
    /// A path. In a configuration file it is relative to the file's directory, elsewhere to the
    /// working directory.
    case path
    /// `host:port`, `[::1]:port` or `unix:PATH`.
    case address
    /// `host:port` or `[::1]:port`.
    case hostAddress
    /// An `http` or `https` URL of a host, without anything after its path.
    case url
    /// `true` or `false`; a flag without value is `true`.
    case boolean
    /// A whole number in this range.
    case integer(ClosedRange<Int64>)
    /// A duration in this range of milliseconds.
    case duration(ClosedRange<Int64>)
    /// A size in this range of bytes.
    case size(ClosedRange<Int64>)
    /// A size in bytes, or a percentage of the memory that this process may use.
    case memory(ClosedRange<Int64>)
    /// One of these words, in any case of letters.
    case choice([String])
    /// A decimal number, kept in millionths.
    case amount

    /// The value that `raw` writes. Strings are read in every kind: the environment and the command
    /// line know nothing else. Throws what was expected instead.
    func parse(_ raw: JSON5Value) throws(SettingValueError) -> SettingValue {
        switch (self, raw) {
        case (.boolean, .boolean(let value)): return .boolean(value)
        case (.integer(let range), .integer(let value)) where range.contains(value):
            return .integer(value)
        case (.integer, .integer): break
        case (.size(let range), .integer(let value)) where range.contains(value):
            return .integer(value)
        case (.amount, .integer(let value)): return try parse(text: String(value))
        case (.amount, .decimal(let value)): return try parse(text: value)
        case (.text, .text(let value)), (.path, .text(let value)), (.address, .text(let value)),
            (.hostAddress, .text(let value)), (.url, .text(let value)),
            (.boolean, .text(let value)),
            (.integer, .text(let value)), (.duration, .text(let value)),
            (.size, .text(let value)), (.memory, .text(let value)),
            (.choice, .text(let value)), (.amount, .text(let value)):
            return try parse(text: value)
        default: break
        }
        throw SettingValueError(expected: expectation, found: Self.description(of: raw))
    }

    /// What this kind accepts, for people.
    var expectation: String {
        switch self {
        case .text(let byteCountMax): "text of 1 to \(byteCountMax) bytes"
        case .path: "a path"
        case .address: "`host:port` with a literal address, `[::1]:port` or `unix:PATH`"
        case .hostAddress: "`host:port` with a literal address, or `[::1]:port`"
        case .url: "a URL such as https://api.storekit.apple.com, without query or user"
        case .boolean: "true or false"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range):
            "a duration such as 250ms, 30s, 5m or 90d, from "
                + Quantity.durationText(range.lowerBound) + " to "
                + Quantity.durationText(range.upperBound)
        case .size(let range):
            "a size such as 64MiB, from \(Quantity.sizeText(range.lowerBound)) to "
                + Quantity.sizeText(range.upperBound)
        case .memory(let range):
            "a size such as 64MiB, at least \(Quantity.sizeText(range.lowerBound)), or a "
                + "percentage of the memory such as 25%"
        case .choice(let words): words.joined(separator: " or ")
        case .amount: "a decimal number of at most six decimals, not negative"
        }
    }

    private func parse(text: String) throws(SettingValueError) -> SettingValue {
        guard let value = value(of: text) else {
            throw SettingValueError(expected: expectation, found: "`\(text)`")
        }
        return value
    }

    private func value(of text: String) -> SettingValue? {
        switch self {
        case .text(let byteCountMax):
            return text.utf8.count <= byteCountMax && !text.utf8.contains(0) ? .text(text) : nil
        case .path: return text.utf8.contains(0) ? nil : .text(text)
        case .address: return (try? SocketAddress(text)).map { .text($0.description) }
        case .hostAddress:
            guard let address = try? SocketAddress(text) else { return nil }
            if case .unix = address { return nil }
            return .text(address.description)
        case .url: return BaseURL(text).map { .text($0.text) }
        case .boolean:
            switch text.lowercased() {
            case "true", "yes", "on", "1": return .boolean(true)
            case "false", "no", "off", "0": return .boolean(false)
            default: return nil
            }
        case .integer(let range): return Self.integer(Quantity.wholeNumber(text), in: range)
        case .duration(let range): return Self.integer(Quantity.duration(text), in: range)
        case .size(let range): return Self.integer(Quantity.size(text), in: range)
        case .memory(let range):
            guard text.hasSuffix("%") else { return Self.integer(Quantity.size(text), in: range) }
            return Self.integer(Quantity.wholeNumber(String(text.dropLast())), in: 1...90) == nil
                ? nil : .text(text)
        case .choice(let words):
            return words.first { $0.lowercased() == text.lowercased() }.map { .text($0) }
        case .amount: return Quantity.millionths(text).map { .integer($0) }
        }
    }

    private static func integer(_ value: Int64?, in range: ClosedRange<Int64>) -> SettingValue? {
        guard let value, range.contains(value) else { return nil }
        return .integer(value)
    }

    private static func description(of raw: JSON5Value) -> String {
        switch raw {
        case .integer(let value): "`\(value)`"
        case .decimal(let value): "`\(value)`"
        case .boolean(let value): "`\(value)`"
        default: raw.kindName
        }
    }
}

/// A value of a setting, in its canonical form and unit.
enum SettingValue: Hashable, Sendable {
    case text(String)
    case boolean(Bool)
    /// Milliseconds, bytes, millionths or a plain number, by the setting's kind.
    case integer(Int64)
}

/// A value that its setting does not take.
struct SettingValueError: Error, Equatable, Sendable {
    let expected: String
    let found: String
}
