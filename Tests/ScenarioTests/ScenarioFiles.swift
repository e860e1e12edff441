import FoundationEssentials
import TestSupport

/// The scenario files, found beside this one.
enum ScenarioFiles {
    static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Scenarios").path()

    /// The names without the extension, sorted.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.filter { $0.hasSuffix(".scenario") }
            .map { String($0.dropLast(".scenario".count)) }.sorted()
    }()

    static func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(directory)/\(name).scenario", encoding: .utf8)
    }
}

/// A directory of its own under the system's temporary one, removed when it goes out of use.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let parent = FileManager.default.temporaryDirectory
        let directory = parent.appending(path: "scenario-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        path = directory.path()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
