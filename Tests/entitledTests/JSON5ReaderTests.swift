import FoundationEssentials
import Testing

@testable import entitled

@Suite struct JSON5ReaderTests {
    @Test(
        arguments: [
            ("null", .null), ("true", .boolean(true)), (" false ", .boolean(false)),
            ("1", .integer(1)), ("-0", .integer(0)), ("+3", .integer(3)), ("0x1F", .integer(31)),
            ("-0XfF", .integer(-255)), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .decimal("9223372036854775808")), ("0.02", .decimal("0.02")),
            (".5", .decimal(".5")), ("5.", .decimal("5.")), ("+1e3", .decimal("1e3")),
            ("-1E-3", .decimal("-1E-3")), ("1e+3", .decimal("1e+3")),
            ("Infinity", .decimal("Infinity")), ("-Infinity", .decimal("-Infinity")),
            ("NaN", .decimal("NaN")), ("''", .text("")), ("'a\"b'", .text("a\"b")),
            ("\"a'b\"", .text("a'b")),
            ("'\\n\\t\\r\\b\\f\\v\\0'", .text("\n\t\r\u{8}\u{c}\u{b}\0")),
            ("'\\x41\\u00e9\\ud83d\\ude00'", .text("Aé😀")), ("'\\q\\'\\\\'", .text("q'\\")),
            ("'a\\\nb\\\r\nc'", .text("abc")), ("'ü\u{2028}'", .text("ü\u{2028}")),
            ("[]", .list([])),
            ("[1, 2,]", .list([.integer(1), .integer(2)])), ("{}", .table([])),
            ("\u{feff}// c\n/* d *\n/ **/ 1 // e", .integer(1)), ("\u{a0}\u{3000}1", .integer(1)),
        ] as [(String, JSON5Value)])
    func `a value is read`(text: String, value: JSON5Value) throws {
        #expect(try JSON5Reader.read(text) == value)
    }

    @Test func `members keep their order and their lines`() throws {
        let text = "{ // one\n  b: 1,\n\n  'a': 2, $x_1: 3,\n  ümläut: null,\n}"
        #expect(
            try JSON5Reader.read(text)
                == .table([
                    JSON5Member(key: "b", line: 2, value: .integer(1)),
                    JSON5Member(key: "a", line: 4, value: .integer(2)),
                    JSON5Member(key: "$x_1", line: 4, value: .integer(3)),
                    JSON5Member(key: "ümläut", line: 5, value: .null),
                ]))
    }

    @Test(
        arguments: [
            ("", 1, 1), ("  // only", 1, 10), ("{", 1, 2), ("{a:1", 1, 5), ("{a:1,,}", 1, 6),
            ("{,}", 1, 2), ("[1 2]", 1, 4), ("[,]", 1, 2), ("{a 1}", 1, 4), ("{a-b: 1}", 1, 3),
            ("{1a: 1}", 1, 2), ("1 2", 1, 3), ("{\n a: 1,\n b: ?\n}", 3, 5), ("yes", 1, 1),
            ("01", 1, 1), ("0x", 1, 1), ("1.2.3", 1, 1), ("1e", 1, 1), (".", 1, 1), ("--1", 1, 1),
            ("12abc", 1, 1), ("+", 1, 1), ("'abc", 1, 1), ("'a\nb'", 1, 1), ("'\\1'", 1, 3),
            ("'\\01'", 1, 4), ("'\\x4'", 1, 5), ("'\\u12'", 1, 6), ("'\\ud800'", 1, 8),
            ("'\\udc00'", 1, 8), ("'\\ud800\\u0041'", 1, 14), ("/* open", 1, 1), ("/ 1", 1, 1),
            ("'\\", 1, 3), ("{a: undefined}", 1, 5),
        ] as [(String, Int, Int)])
    func `a mistake is refused and located`(text: String, line: Int, column: Int) throws {
        let error = try #require(throws: JSON5Error.self) { try JSON5Reader.read(text) }
        #expect(error.line == line)
        #expect(error.column == column)
        #expect(!error.message.isEmpty)
    }

    @Test func `a key that stands twice is refused with both lines`() throws {
        let error = try #require(throws: JSON5Error.self) {
            try JSON5Reader.read("{ a: 1,\n  b: 2,\n  'a': 3 }")
        }
        #expect(error.line == 3)
        #expect(error.message.contains("`a`"))
        #expect(error.message.contains("line 1"))
    }

    @Test func `nesting is read to its limit and refused beyond`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSON5Reader.read(nested(JSON5Reader.depthMax + 1))
        #expect(throws: JSON5Error.self) {
            try JSON5Reader.read(nested(JSON5Reader.depthMax + 2))
        }
        #expect(throws: JSON5Error.self) {
            try JSON5Reader.read(String(repeating: "[", count: 200_000))
        }
    }

    /// A value as both readers see it.
    private indirect enum Oracle: Decodable, Equatable {
        case null
        case boolean(Bool)
        case number(Double)
        case text(String)
        case list([Oracle])
        case table([String: Oracle])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let value = try? container.decode([Oracle].self) {
                self = .list(value)
            } else {
                self = .table(try container.decode([String: Oracle].self))
            }
        }

        init(_ value: JSON5Value) {
            switch value {
            case .null: self = .null
            case .boolean(let value): self = .boolean(value)
            case .integer(let value): self = .number(Double(value))
            case .decimal(let text): self = .number(Double(text) ?? .nan)
            case .text(let value): self = .text(value)
            case .list(let values): self = .list(values.map(Oracle.init))
            case .table(let members):
                self = .table(
                    Dictionary(uniqueKeysWithValues: members.map { ($0.key, Oracle($0.value)) }))
            }
        }
    }

    @Test(arguments: 0..<8)
    func `random documents mean what another reader says they mean`(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        for _ in 0..<200 {
            let text = random.document(depth: 3)
            let ours = Oracle(try JSON5Reader.read(text))
            let decoder = JSONDecoder()
            decoder.allowsJSON5 = true
            let theirs = try decoder.decode(Oracle.self, from: Data(text.utf8))
            #expect(ours == theirs, "seed \(seed): \(text)")
        }
    }

    @Test(arguments: 0..<4)
    func `damaged documents are refused or read, never a crash`(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        for _ in 0..<500 {
            var scalars = Array(random.document(depth: 3).unicodeScalars)
            for _ in 0...random.below(3) where !scalars.isEmpty {
                let index = random.below(scalars.count)
                switch random.below(3) {
                case 0: scalars.remove(at: index)
                case 1:
                    scalars[index] =
                        "{}[]'\",:\\/*u0".unicodeScalars.randomElement(using: &random) ?? "x"
                default: scalars.removeSubrange(index...)
                }
            }
            let text = String(String.UnicodeScalarView(scalars))
            do throws(JSON5Error) {
                _ = try JSON5Reader.read(text)
            } catch {
                #expect(error.line >= 1 && error.column >= 1, "seed \(seed): \(text)")
            }
        }
    }
}

/// A seeded generator (SplitMix64) of numbers and of JSON5 documents.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func pick(_ choices: [String]) -> String { choices[below(choices.count)] }

    mutating func space() -> String { pick(["", " ", "\n", "\t", "// c\n", "/* d */", ""]) }

    mutating func document(depth: Int) -> String {
        let body: String
        switch below(depth > 0 ? 6 : 4) {
        case 0: body = pick(["null", "true", "false"])
        case 1: body = pick(["0", "-1", "+2", "0x1F", "1600000001", ".5", "2.", "1e3", "-1.5E-2"])
        case 2: body = pick(["'a'", "\"b c\"", "'\\u0041\\n'", "'it\\'s'", "\"ü😀\"", "''"])
        case 3: body = pick(["[]", "{}"])
        case 4:
            let items = (0...below(3)).map { _ in document(depth: depth - 1) }
            body = "[" + items.joined(separator: ",") + pick(["", ","]) + "]"
        default:
            let items = (0...below(3)).map { index in
                let key = pick(["k\(index)", "'k\(index)'", "\"k\(index)\"", "$k_\(index)"])
                return space() + key + space() + ":" + document(depth: depth - 1)
            }
            body = "{" + items.joined(separator: ",") + pick(["", ","]) + space() + "}"
        }
        return space() + body + space()
    }
}
