/// Random numbers that a seed makes repeatable: xoshiro256**.
///
/// See: https://prng.di.unimi.it/
package struct RandomSource: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// The same seed gives the same numbers.
    package init(seed: UInt64) {
        var mixer = seed
        func mixed() -> UInt64 {
            mixer &+= 0x9E37_79B9_7F4A_7C15
            var value = mixer
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
        state = (mixed(), mixed(), mixed(), mixed())
    }

    /// 64 random bits.
    @inline(__always)
    package mutating func next() -> UInt64 {
        let product = state.1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }

    /// At least 0, less than 1; 53 random bits.
    @inline(__always)
    package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// At least 0, less than `bound`, which is more than 0. The bias is bound / 2^64.
    @inline(__always)
    package mutating func below(_ bound: UInt64) -> UInt64 {
        next().multipliedFullWidth(by: bound).high
    }
}
