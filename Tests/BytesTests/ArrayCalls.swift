import Bytes

// The macros of Swift Testing cannot take a span apart, so tests call with arrays.

extension Base64 {
    static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }
    static func decode(_ text: [UInt8]) throws(Base64Error) -> [UInt8] { try decode(text.span) }
}

extension Base64URL {
    static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }
    static func decode(_ text: [UInt8]) throws(Base64Error) -> [UInt8] { try decode(text.span) }
}
