import FoundationEssentials

/// The programs under test, built beside the tests.
enum Programs {
    /// Where the test bundle lies.
    private static let directory: String = {
        let bundle =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments.first ?? ""
        let components = bundle.split(separator: "/").map(String.init)
        // On macOS the bundle is a directory with the executable deep inside.
        let end = components.firstIndex { $0.hasSuffix(".xctest") } ?? max(0, components.count - 1)
        return "/" + components[..<end].joined(separator: "/")
    }()

    static var server: String { directory + "/entitled" }
    static var tool: String { directory + "/entitlectl" }
    /// A library that counts what a program asks of its kernel; see `CCallCounter.h`.
    static var counter: String { directory + "/libCCallCounter.so" }

    /// Whether a sanitizer watches them: its runtime takes memory of its own, and does not bear
    /// another library that stands before the system's.
    static var areSanitized: Bool {
        #if SANITIZED
            true
        #else
            false
        #endif
    }

    /// What is said when they are missing.
    static let absence: String = "the programs are not built: swift build"

    /// Whether both programs are there.
    static var areBuilt: Bool {
        FileManager.default.isExecutableFile(atPath: server)
            && FileManager.default.isExecutableFile(atPath: tool)
    }
}

/// A directory that goes with the value's last owner.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory.path
            + "/entitled-test-\(UUID().uuidString.prefix(13).lowercased())"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
        return path + "/" + name
    }

    func text(of name: String) -> String {
        (try? Data(contentsOf: URL(filePath: path + "/" + name)))
            .map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
