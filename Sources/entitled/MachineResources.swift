/// What of the machine the process may use: a container's limits count, not only the hardware.
struct MachineResources: Equatable, Sendable {
    /// At least 1.
    let processorCount: Int
    /// In bytes.
    let memoryByteCount: Int64

    /// Reads the control group's limits (https://docs.kernel.org/admin-guide/cgroup-v2.html,
    /// `cpu.max` and `memory.max`, and version 1's `memory.limit_in_bytes`). A container sees its
    /// own group at the root of the file system.
    init(
        processorCount: Int, physicalMemoryByteCount: UInt64,
        readFile: (_ path: String) -> String?
    ) {
        var processors = max(1, processorCount)
        if let quota = readFile("/sys/fs/cgroup/cpu.max").flatMap(Self.processors(quota:)) {
            processors = min(processors, quota)
        }
        var memory = Int64(clamping: physicalMemoryByteCount)
        for path in ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"] {
            let limit = readFile(path).flatMap { Quantity.wholeNumber(Self.trimmed($0)) }
            if let limit, limit > 0 { memory = min(memory, limit) }
        }
        self.processorCount = processors
        memoryByteCount = memory
    }

    /// "MAX PERIOD" in microseconds, rounded up to whole processors; `nil` for "max".
    private static func processors(quota text: String) -> Int? {
        let parts = trimmed(text).split(separator: " ")
        guard parts.count == 2, let quota = Quantity.wholeNumber(String(parts[0])),
            let period = Quantity.wholeNumber(String(parts[1])), quota > 0, period > 0
        else { return nil }
        return Int(clamping: (quota - 1) / period + 1)
    }

    private static func trimmed(_ text: String) -> String {
        String(text.prefix { $0 != "\n" })
    }
}
