internal import FoundationEssentials

/// How much of the disk the store takes, by what the files hold.
struct StoreSize: Equatable, Sendable {
    /// Sorted tables: the facts.
    var tableByteCount: UInt64 = 0
    /// The log of what is not in a table yet.
    var logByteCount: UInt64 = 0
    /// Everything else.
    var otherByteCount: UInt64 = 0

    /// Adds up the files of a directory and of those in it; a file that goes meanwhile counts for
    /// nothing.
    init(directory: String) {
        add(directory)
        for name in Self.names(in: directory) { add(directory + "/" + name) }
    }

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    private mutating func add(_ directory: String) {
        for name in Self.names(in: directory) {
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: directory + "/" + name)
            guard attributes?[.type] as? FileAttributeType == .typeRegular,
                let size = attributes?[.size] as? UInt64
            else { continue }
            if name.hasSuffix(".sst") {
                tableByteCount &+= size
            } else if name.hasSuffix(".log") {
                logByteCount &+= size
            } else {
                otherByteCount &+= size
            }
        }
    }
}
