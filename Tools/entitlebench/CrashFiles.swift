internal import FoundationEssentials
internal import ToolSupport

/// What is done to the files of a store while no server has it: copies, and damage.
enum CrashFiles {
    /// Copies a directory with all in it.
    ///
    /// - Throws: `CommandFailure` where that fails; half of the copy may be there then.
    static func copy(_ source: String, to target: String) throws(CommandFailure) {
        do {
            try FileManager.default.copyItem(atPath: source, toPath: target)
        } catch {
            throw CommandFailure(.failed, "\(source) cannot be copied to \(target): \(error)")
        }
    }

    /// The names in a directory, sorted; empty where there is none.
    static func names(in directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    /// Removes a file or a directory; what is not there is gone already.
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// The content of a file.
    ///
    /// - Throws: `CommandFailure` naming it.
    static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
        try SystemCalls.readFile(path)
    }

    /// Replaces the content of a file.
    ///
    /// - Throws: `CommandFailure` naming it.
    static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        do {
            try Data(bytes).write(to: URL(filePath: path))
        } catch {
            throw CommandFailure(.failed, "\(path): it cannot be written")
        }
    }

    /// The text of a file; empty where there is none.
    static func text(_ path: String) -> String {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
            ?? ""
    }

    /// The newest log of the database in `directory`, by its number; nil where there is none.
    static func newestLog(in directory: String) -> String? {
        names(in: directory).filter { $0.hasSuffix(".log") }
            .max { UInt64($0.dropLast(4)) ?? 0 < UInt64($1.dropLast(4)) ?? 0 }
            .map { directory + "/" + $0 }
    }
}
