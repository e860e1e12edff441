/// Writes fields of messages into an array, for templates: made once, so it may be slow and simple.
///
/// Written apart from the server's codecs: an answer is compared with what this says, so a mistake
/// of theirs is no mistake here.
///
/// See: https://protobuf.dev/programming-guides/encoding/
struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    /// A varint: seven bits a byte, the lowest first.
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// A number; zero is left out, as proto3 does.
    mutating func number(_ field: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        varint(field << 3)
        varint(value)
    }

    /// Bytes, or a message inside, even when empty.
    mutating func bytes(_ field: UInt64, _ value: [UInt8]) {
        varint(field << 3 | 2)
        varint(UInt64(value.count))
        bytes += value
    }

    /// A text; the empty one is left out. Where its first byte stands, or nil.
    @discardableResult
    mutating func text(_ field: UInt64, _ value: String) -> Int? {
        guard !value.isEmpty else { return nil }
        bytes(field, Array(value.utf8))
        return bytes.count - value.utf8.count
    }

    /// A number that always takes five bytes; it is from 2^28 to 2^35 - 1 then.
    mutating func fixedVarint(_ field: UInt64, _ value: UInt64) {
        precondition(value >> 28 >= 1 && value >> 35 == 0)
        varint(field << 3)
        varint(value)
    }

    /// `body` behind its length, as a frame.
    static func frame(_ body: [UInt8]) -> [UInt8] {
        let count = UInt32(body.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + body
    }
}

/// Overwrites digits and ids in templates.
enum Patch {
    /// The lowest id that takes five bytes as a varint; the lowest 28 bits are free.
    static let idBase: UInt64 = 1 << 28
    static let idMask: UInt64 = idBase - 1

    /// Writes the last `count` decimal digits of `value` so that they end before `end`.
    ///
    /// Eight at a time: digit by digit, the two numbers of an answer took a fifth of all that the
    /// generator does.
    @inline(__always)
    static func digits(_ value: UInt64, count: Int, before end: UnsafeMutablePointer<UInt8>) {
        var rest = value
        var left = count
        var place = unsafe end
        while left >= 8 {
            let (quotient, eight) = rest.quotientAndRemainder(dividingBy: 100_000_000)
            unsafe place -= 8
            unsafe UnsafeMutableRawPointer(place).storeBytes(
                of: eightDigits(eight).littleEndian, as: UInt64.self)
            rest = quotient
            left -= 8
        }
        guard left > 0 else { return }
        var digits = eightDigits(rest % 100_000_000)
        while left > 0 {
            unsafe place -= 1
            unsafe place.pointee = UInt8(truncatingIfNeeded: digits >> 56)
            digits <<= 8
            left -= 1
        }
    }

    /// Eight digits as bytes of a word, the first digit in the lowest byte: halves, then pairs,
    /// then digits are taken apart, all at once. The factors are 1/100 and 1/10 in 20 and 10 bits,
    /// exact for numbers below 10,000 and 100.
    @inline(__always)
    static func eightDigits(_ value: UInt64) -> UInt64 {
        let halves = value / 10_000 | (value % 10_000) << 32
        let hundreds = (halves &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let pairs = hundreds | (halves &- hundreds &* 100) << 16
        let tens = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
        return (tens | (pairs &- tens &* 10) << 8) | 0x3030_3030_3030_3030
    }

    /// Writes the five bytes of the id of request `number`.
    @inline(__always)
    static func id(_ number: UInt64, at place: UnsafeMutablePointer<UInt8>) {
        let id = idBase | number & idMask
        unsafe place[0] = UInt8(truncatingIfNeeded: id) | 0x80
        unsafe place[1] = UInt8(truncatingIfNeeded: id >> 7) | 0x80
        unsafe place[2] = UInt8(truncatingIfNeeded: id >> 14) | 0x80
        unsafe place[3] = UInt8(truncatingIfNeeded: id >> 21) | 0x80
        unsafe place[4] = UInt8(truncatingIfNeeded: id >> 28)
    }
}
