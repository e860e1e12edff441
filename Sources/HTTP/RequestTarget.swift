/// The target of a request line, taken apart.
///
/// See: https://www.rfc-editor.org/rfc/rfc9112#section-3.2
struct RequestTarget: Hashable, Sendable {
    /// Percent-decoded; begins with "/" or is "*".
    let path: String
    /// Items in order, percent-decoded.
    let query: [HTTPField]

    /// Takes a target apart; nil when it is none, or when what is decoded is no UTF-8.
    init?(_ raw: String) {
        guard raw.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        var rest = raw[...]
        // The absolute form, which a server must take: "GET http://host/path".
        for scheme in ["http://", "https://"] where rest.lowercased().hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
            rest = rest[(rest.firstIndex { "/?".contains($0) } ?? rest.endIndex)...]
            if !rest.hasPrefix("/") { rest = "/" + rest }
            break
        }
        let pathEnd = rest.firstIndex { "?#".contains($0) } ?? rest.endIndex
        guard let path = Self.decoded(rest[..<pathEnd], plusIsSpace: false),
            path.hasPrefix("/") || path.utf8.elementsEqual("*".utf8)
        else { return nil }
        self.path = path
        var query: [HTTPField] = []
        if pathEnd < rest.endIndex, rest[pathEnd] == "?" {
            let text = rest[rest.index(after: pathEnd)...].prefix { $0 != "#" }
            for item in text.split(separator: "&") {
                let equals = item.firstIndex(of: "=")
                let nameText = item[..<(equals ?? item.endIndex)]
                let valueText = equals.map { item[item.index(after: $0)...] } ?? ""
                guard let name = Self.decoded(nameText, plusIsSpace: true),
                    let value = Self.decoded(valueText, plusIsSpace: true)
                else { return nil }
                query.append(HTTPField(name, value))
            }
        }
        self.query = query
    }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var source = text.utf8.makeIterator()
        while let byte = source.next() {
            if byte == UInt8(ascii: "%") {
                guard let high = source.next().flatMap(hexadecimal),
                    let low = source.next().flatMap(hexadecimal)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
