/// What a field may be made of.
///
/// See: https://www.rfc-editor.org/rfc/rfc9110#section-5.5
enum FieldRules {
    /// Letters, digits and what may stand in a word besides (RFC 9110 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Whether a name is a word. "Content-Length " with its space is none: some would read it.
    static func isSound(name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy(isTokenByte)
    }

    /// Whether a value has no control character.
    static func isSound(value: String) -> Bool {
        value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }

    /// Whether all fields of a request can be read in one way only; where a body ends is
    /// `BodyFraming`'s. Since HTTP/1.1 a request names its host, once.
    static func areSound(_ fields: [HTTPField], version: String) -> Bool {
        let hostCount = fields.count { $0.name.lowercased() == "host" }
        return fields.allSatisfy { isSound(name: $0.name) && isSound(value: $0.value) }
            && (hostCount == 1 || hostCount == 0 && version.utf8.elementsEqual("HTTP/1.0".utf8))
    }
}
