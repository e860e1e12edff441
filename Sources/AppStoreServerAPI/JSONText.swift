/// The few JSON texts that are sent to Apple; what Apple sends is read by `JSONObject`.
enum JSONText {
    /// A value of a member.
    enum Value {
        case string(String)
        case integer(Int64)
        case boolean(Bool)
    }

    /// An object with these members, in order; UTF-8.
    static func object(_ members: [(name: String, value: Value)]) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "{")]
        for (index, member) in members.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            append(quoted: member.name, to: &text)
            text.append(UInt8(ascii: ":"))
            switch member.value {
            case .string(let string): append(quoted: string, to: &text)
            case .integer(let integer): text += String(integer).utf8
            case .boolean(let boolean): text += (boolean ? "true" : "false").utf8
            }
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// A string in quotes, escaped where RFC 8259 section 7 demands it.
    private static func append(quoted string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text += [UInt8(ascii: "\\"), byte]
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                text += "\\u00".utf8
                text += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
