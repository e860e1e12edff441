internal import FoundationEssentials

/// What a server has asked of its allocator and kernel since it began, as `CCallCounter` keeps it
/// in a file. See `CCallCounter.h` for the bytes of that file.
struct GateCounts: Equatable, Sendable {
    /// Counts of all threads, by the counter's name of the kind.
    private(set) var totals: [String: UInt64]

    /// Counts given by name.
    init(totals: [String: UInt64]) { self.totals = totals }

    /// Reads the bytes of a counter's file; nil where they are none.
    init?(bytes: [UInt8]) {
        guard bytes.count >= Self.headerByteCount, bytes.starts(with: Self.magic) else {
            return nil
        }
        let kindCount = Int(Self.number(bytes, at: 8, byteCount: 4))
        let rowCount = Int(Self.number(bytes, at: 12, byteCount: 4))
        let countsStart = Self.headerByteCount + kindCount * Self.nameByteCount
        guard 1...64 ~= kindCount, 1...64 ~= rowCount,
            bytes.count >= countsStart + rowCount * kindCount * 8
        else { return nil }
        totals = [:]
        for kind in 0..<kindCount {
            let start = Self.headerByteCount + kind * Self.nameByteCount
            let name = bytes[start..<start + Self.nameByteCount].prefix { $0 != 0 }
            var total: UInt64 = 0
            for row in 0..<rowCount {
                let index = countsStart + (row * kindCount + kind) * 8
                total &+= Self.number(bytes, at: index, byteCount: 8)
            }
            totals[String(decoding: name, as: UTF8.self)] = total
        }
    }

    /// Reads a counter's file; nil where there is none, or none that a counter has made.
    init?(path: String) {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        self.init(bytes: Array(data))
    }

    /// How many of a kind; nil where the counter does not count it.
    subscript(kind: String) -> UInt64? { totals[kind] }

    /// What has been added since `earlier`.
    func since(_ earlier: GateCounts) -> GateCounts {
        GateCounts(
            totals: totals.reduce(into: [:]) { result, entry in
                result[entry.key] = entry.value &- (earlier.totals[entry.key] ?? 0)
            })
    }

    private static let magic = Array("CALLCNT1".utf8)
    private static let headerByteCount = 64
    private static let nameByteCount = 32

    /// Little-endian, as every machine is that the counter runs on.
    private static func number(_ bytes: [UInt8], at index: Int, byteCount: Int) -> UInt64 {
        bytes[index..<index + byteCount].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
