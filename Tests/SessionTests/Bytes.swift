/// The bytes that a string of hexadecimal digits names; blanks are skipped.
func hex(_ digits: String) -> [UInt8] {
    let nibbles = digits.compactMap(\.hexDigitValue)
    precondition(nibbles.count % 2 == 0)
    return stride(from: 0, to: nibbles.count, by: 2).map {
        UInt8(nibbles[$0] << 4 | nibbles[$0 + 1])
    }
}

/// `body` behind its length.
func framed(_ body: [UInt8]) -> [UInt8] {
    let count = UInt32(body.count)
    return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + body
}

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Some bytes, any value.
    mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: range, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self)
        }
    }
}
