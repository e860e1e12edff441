import FoundationEssentials
import TestSupport
import Testing

@testable import AppStore

@Suite struct JSONObjectTests {
    private func object(_ text: String) throws -> JSONObject { try JSONObject(Array(text.utf8)) }

    @Test(arguments: [
        "{}", " { } ", "{\"a\":1}", "{\"a\":[],\"b\":{}}", "{\"\":\"\"}", "{\"a\":-0}",
        "{\"a\":0.0e+0}", "{\"a\":0e1}", "{\"a\":1E5,\"b\":-1.5e-7}", "{\"a\":[1,[2,[3]]]}",
        "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\ud83d\\ude00\"}", "{\"a\":\"é€😀\"}",
        "\r\n\t{\"a\"\n:\ttrue , \"b\":false,\"c\" : null}\n", "{\"a\":\"\u{7F}\"}",
    ])
    func `what RFC 8259 allows is read`(text: String) {
        #expect(throws: Never.self) { try object(text) }
    }

    @Test(arguments: [
        "", " ", "{", "}", "[]", "1", "\"a\"", "null", "{]", "{}{}", "{},", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{,}", "{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "{\"a\":01}", "{\"a\":+1}",
        "{\"a\":.5}", "{\"a\":1.}", "{\"a\":1e}", "{\"a\":1e+}", "{\"a\":-}", "{\"a\":--1}",
        "{\"a\":0x10}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":True}", "{\"a\":tru}",
        "{\"a\":nul}", "{\"a\":truee}", "{\"a\":\"}", "{\"a\":\"\\\"}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}", "{\"a\":\"\\u12G4\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}",
        "{\"a\":\"\\ud800\\u0041\"}", "{\"a\":\"\\ud800\\ud800\"}", "{\"a\":\"\n\"}",
        "{\"a\":\"\u{0}\"}", "{\"a\":[1,]}", "{\"a\":[1 2]}", "{\"a\":[}", "{\"a\":1}x",
        "{/**/}", "{\"a\":1}//", "{1:2}", "{\"a\":\"b\"\"c\"}", "\u{FEFF}{}",
    ])
    func `what RFC 8259 does not allow is refused`(text: String) {
        #expect(throws: JSONError.self) { try object(text) }
    }

    @Test func `invalid UTF-8 is refused anywhere`() {
        for bytes in [
            [0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF5, 0x80, 0x80, 0x80],
        ]
            as [[UInt8]]
        {
            let text = Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)
            #expect(throws: JSONError.self) { try JSONObject(text) }
        }
    }

    @Test func `a member that is null is there and has no value`() throws {
        let object = try object(#"{"a":null,"b":1}"#)
        #expect(object.contains("a") && object.contains("b") && !object.contains("c"))
        #expect(object.value("a") == nil)
    }

    @Test func `nesting has a limit and no crash`() {
        func nested(_ depth: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                + "}"
        }
        #expect(throws: Never.self) { try object(nested(JSONScanner.depthMax - 1)) }
        #expect(throws: JSONError.self) { try object(nested(JSONScanner.depthMax)) }
        #expect(throws: JSONError.self) { try object(nested(200_000)) }
        let open = "{\"a\":" + String(repeating: "{\"a\":", count: 200_000)
        #expect(throws: JSONError.self) { try object(open) }
    }

    @Test func `every prefix of an object is refused`() throws {
        let text = "{\"a\":[1,-2.5e3,true,null,\"\\u00e9\\n\"],\"b\":{\"c\":\"é\"}}"
        #expect(throws: Never.self) { try object(text) }
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count {
            #expect(throws: JSONError.self) { try JSONObject(Array(bytes.prefix(count))) }
        }
    }

    @Test func `it accepts and refuses what JSONDecoder does`() throws {
        var random = SplitMix(state: 20_260_301)
        let seeds = [
            "{\"a\":[1,-2.5e3,true,null,\"\\u00e9\\n\"],\"b\":{\"c\":\"x\"}}",
            "{\"a\":\"\\ud83d\\ude00\",\"b\":0.1,\"c\":[[],{}]}",
        ].map { Array($0.utf8) }
        let alphabet = Array("{}[],:\"\\0123456789-+.eEtrufalsn dD x".utf8)
        var acceptedCount = 0
        for round in 0..<20_000 {
            var text = seeds[round % seeds.count]
            for _ in 0...random.next(below: 2) {
                let place = random.next(below: text.count)
                let byte = alphabet[random.next(below: alphabet.count)]
                switch random.next(below: 3) {
                case 0: text[place] = byte
                case 1: text.insert(byte, at: place)
                default: text.remove(at: place)
                }
            }
            // Where JSONDecoder leaves RFC 8259: a comma before } is read, 0e1 is not.
            let compact = String(decoding: text.filter { $0 != 0x20 }, as: UTF8.self).lowercased()
            if compact.contains(",}") || compact.contains("0e") { continue }
            let isRead = (try? JSONObject(text)) != nil
            let isDecoded =
                (try? JSONDecoder().decode([String: AnyJSON].self, from: Data(text))) != nil
            #expect(isRead == isDecoded, "\(String(decoding: text, as: UTF8.self))")
            acceptedCount += isRead ? 1 : 0
        }
        #expect(acceptedCount > 1_000)
    }

    @Test(
        arguments: [
            ("1772323200000", 1_772_323_200_000), ("0", 0), ("-0", 0), ("-1", -1),
            ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9223372036854775808", nil), ("1e300", nil),
            ("1697679936049.7297", 1_697_679_936_049), ("-1.5", -2), ("-0.0", 0), ("2.0", 2),
            ("1.772e3", 1_772), ("\"1772323200000\"", 1_772_323_200_000), ("\"-5\"", -5),
            ("\"\"", nil), ("\"-\"", nil), ("\"1.5\"", nil), ("\"1 \"", nil), ("\"+1\"", nil),
            ("\"٣\"", nil), ("true", nil), ("null", nil), ("[1]", nil), ("{}", nil),
            ("\"9007199254740993\"", 9_007_199_254_740_993),
        ] as [(String, Int64?)])
    func `integers are exact, fractions are floored, other types are absent`(
        text: String, value: Int64?
    ) throws {
        #expect(try object("{\"a\":\(text)}").integer("a") == value)
    }

    @Test(
        arguments: [
            ("true", true), ("false", false), ("\"true\"", true), ("\"false\"", false),
            ("\"TRUE\"", nil), ("1", nil), ("\"1\"", nil), ("null", nil), ("[]", nil),
        ] as [(String, Bool?)])
    func `booleans may be strings`(text: String, value: Bool?) throws {
        #expect(try object("{\"a\":\(text)}").boolean("a") == value)
    }

    @Test(
        arguments: [
            ("\"x\"", "x"), ("\"\"", ""),
            ("12345678901234567890123456789", "12345678901234567890123456789"),
            ("-7", "-7"), ("1.5", nil), ("1e3", nil), ("true", nil), ("null", nil), ("[]", nil),
            ("\"\\u00e9\\ud83d\\ude00\\n\\/\"", "é😀\n/"),
        ] as [(String, String?)])
    func `texts are strings or integers digit for digit`(text: String, value: String?) throws {
        #expect(try object("{\"a\":\(text)}").text("a") == value)
    }

    @Test func `of a repeated name the last one counts`() throws {
        let repeated = try object("{\"a\":1,\"b\":2,\"\\u0061\":3}")
        #expect(repeated.integer("a") == 3 && repeated.integer("b") == 2)
        #expect(try object("{\"a\":1,\"a\":null}").integer("a") == nil)
    }

    @Test func `containers inside are read when they are asked for`() throws {
        let outer = try object("{\"x\":\"é\",\"o\":{\"i\":{\"n\":5}},\"l\":[1,\"b\",{\"c\":2}]}")
        #expect(outer.object("o")?.object("i")?.integer("n") == 5)
        #expect(outer.object("x") == nil && outer.array("o") == nil && outer.object("l") == nil)
        let elements = try #require(outer.array("l"))
        #expect(elements.count == 3)
        #expect(outer.bytes(elements[1]) == [UInt8(ascii: "b")])
        #expect(outer.object(elements[2])?.integer("c") == 2)
    }
}

/// What JSONDecoder can decode at all.
private enum AnyJSON: Decodable {
    case scalar
    case array([AnyJSON])
    case object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
        if let object = try? [String: AnyJSON](from: decoder) {
            self = .object(object)
        } else if let array = try? [AnyJSON](from: decoder) {
            self = .array(array)
        } else {
            let container = try decoder.singleValueContainer()
            self = .scalar
            // Decoded only now: until a scalar is asked for, the decoder does not look inside it.
            if container.decodeNil() || (try? container.decode(Bool.self)) != nil
                || (try? container.decode(Double.self)) != nil
            {
                return
            }
            _ = try container.decode(String.self)
        }
    }
}

/// A generator with a seed, for inputs that come out the same every time.
struct SplitMix {
    var state: UInt64

    mutating func next(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ mixed >> 31) % UInt64(bound))
    }
}
