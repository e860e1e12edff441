import TestSupport

/// Changes inputs at random, as a fuzzer does; the same seed makes the same inputs.
struct ByteMutator {
    /// What breaks parsers: ends of ranges, lengths, separators.
    private static let telling: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x22, 0x2E, 0x5C, 0x7B]

    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// One of `inputs`, changed one to four times, cut to `byteCountMax`.
    mutating func input(from inputs: [[UInt8]], byteCountMax: Int) -> [UInt8] {
        var bytes = generator.pick(inputs)
        for _ in 0..<generator.number(1...4) { change(&bytes, inputs) }
        return Array(bytes.prefix(byteCountMax))
    }

    private mutating func change(_ bytes: inout [UInt8], _ inputs: [[UInt8]]) {
        let place = generator.number(0...bytes.count)
        let count = generator.number(0...min(8, bytes.count - place))
        switch generator.number(0...6) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(generator.number(0...7))
        case 1 where place < bytes.count: bytes[place] = generator.pick(Self.telling)
        case 2: bytes.insert(generator.pick(Self.telling), at: place)
        case 3: bytes.removeSubrange(place..<place + count)
        case 4: bytes.insert(contentsOf: Array(bytes[place..<place + count]), at: place)
        case 5: bytes.replaceSubrange(place..., with: generator.pick(inputs).suffix(place))
        default: bytes.append(UInt8(truncatingIfNeeded: generator.next()))
        }
    }
}
