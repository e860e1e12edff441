/// What happened, in order: a hash over all of it, and the last lines for people.
///
/// Two runs of one seed are the same run when their hashes are equal. Lines hold nothing that
/// differs between processes: no signature, no address, no order of a dictionary.
package struct Trace: Sendable {
    /// FNV-1a, 64 bits, over every line.
    package private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    /// How many lines there were.
    package private(set) var lineCount = 0
    private let keptCountMax: Int
    private var kept: [String] = []

    /// An empty trace that keeps its last `keptCountMax` lines.
    package init(keptCountMax: Int = 60) {
        precondition(keptCountMax > 0)
        self.keptCountMax = keptCountMax
    }

    /// The last lines, oldest first.
    package var lastLines: [String] {
        guard lineCount > kept.count else { return kept }
        let start = lineCount % keptCountMax
        return Array(kept[start...] + kept[..<start])
    }

    /// Adds a line; `milliseconds` is simulated time since the start.
    package mutating func note(_ milliseconds: Int64, _ text: String) {
        let line = "\(milliseconds) \(text)"
        for byte in line.utf8 { mix(byte) }
        mix(0x0A)
        if kept.count < keptCountMax {
            kept.append(line)
        } else {
            kept[lineCount % keptCountMax] = line
        }
        lineCount += 1
    }

    private mutating func mix(_ byte: UInt8) {
        hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
}
