internal import FoundationEssentials

/// What the system says of this process, for the standard metrics; zeros where it says nothing.
struct ProcessFacts: Equatable, Sendable {
    /// User and system time.
    var cpuSeconds: Double = 0
    var residentByteCount: UInt64 = 0
    var virtualByteCount: UInt64 = 0
    var openDescriptorCount = 0
    /// Since 1970.
    var startSeconds: Double = 0

    /// Linux's USER_HZ: what /proc counts in, whatever the kernel's own tick.
    static let ticksPerSecond = 100.0

    /// Reads /proc.
    ///
    /// - Parameters:
    ///   - stat: the content of `/proc/self/stat`, see proc_pid_stat(5).
    ///   - systemStat: that of `/proc/stat`, for the time of boot.
    ///   - descriptorCount: how many descriptors are open.
    ///   - pageByteCount: the size of a page of memory.
    init(
        stat: String?, systemStat: String?, descriptorCount: Int, pageByteCount: UInt64 = 4_096
    ) {
        openDescriptorCount = descriptorCount
        // The second field is the name in parentheses, and may itself hold spaces and parentheses.
        guard let stat, let end = stat.lastIndex(of: ")") else { return }
        let fields = stat[stat.index(after: end)...].split { $0 == " " || $0 == "\n" }
        func number(_ field: Int) -> UInt64 {
            // Fields are numbered from 1 in the manual; field 3 is the first after the name.
            field - 3 < fields.count ? UInt64(fields[field - 3]) ?? 0 : 0
        }
        cpuSeconds = Double(number(14) &+ number(15)) / Self.ticksPerSecond
        virtualByteCount = number(23)
        residentByteCount = number(24) &* pageByteCount
        let bootLine = systemStat?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        guard let boot = bootLine.flatMap({ Double($0.dropFirst("btime ".count)) }) else { return }
        startSeconds = boot + Double(number(22)) / Self.ticksPerSecond
    }

    /// Of this process, now.
    static var current: ProcessFacts {
        func text(_ path: String) -> String? {
            (try? SystemCalls.readFile(path, byteCountMax: 1 << 20)).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return ProcessFacts(
            stat: text("/proc/self/stat"), systemStat: text("/proc/stat"),
            descriptorCount: descriptors?.count ?? 0)
    }
}
