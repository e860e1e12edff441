import Wire

/// The bytes that a string of hexadecimal digits names; blanks are skipped.
func hex(_ digits: String) -> [UInt8] {
    let nibbles = digits.compactMap(\.hexDigitValue)
    precondition(nibbles.count % 2 == 0)
    return stride(from: 0, to: nibbles.count, by: 2).map {
        UInt8(nibbles[$0] << 4 | nibbles[$0 + 1])
    }
}

/// Request id 1: may customer "a" use product "p"?
let requestV = hex("0801 5208 0A03 0A0161 120170")

/// `body` behind its length.
func framed(_ body: [UInt8]) -> [UInt8] {
    let count = UInt32(body.count)
    return [
        UInt8(count >> 24), UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255),
    ]
        + body
}

extension OutputBuffer {
    /// Appends the bytes of an array.
    mutating func append(_ bytes: [UInt8]) { append(bytes.span) }

    /// A copy of the bytes waiting.
    var copy: [UInt8] { Text(copying: bytes).bytes }
}
