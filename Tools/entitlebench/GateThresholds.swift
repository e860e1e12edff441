internal import FoundationEssentials
internal import ToolSupport

/// What a server may ask for at most: by scenario, by kind of count, for each operation.
///
/// A file of them is JSON: `{"check 1x16": {"allocations": 0.001, "reads": 0.063}}`. They are kept
/// by release of Swift, whose runtime allocates, and are the same on every machine.
struct GateThresholds: Equatable, Sendable {
    /// The most of each kind for one operation, by scenario.
    let limits: [String: [String: Double]]

    /// Reads a file's text.
    ///
    /// - Throws: `CommandFailure` where it is no such JSON, or names no scenario.
    init(json: [UInt8], path: String) throws(CommandFailure) {
        do {
            limits = try JSONDecoder().decode([String: [String: Double]].self, from: Data(json))
        } catch {
            throw CommandFailure(
                .usage, "\(path): thresholds are an object of objects of numbers")
        }
        guard !limits.isEmpty, !limits.values.contains(where: \.isEmpty) else {
            throw CommandFailure(.usage, "\(path): there is a scenario without a threshold")
        }
    }

    /// Reads a file.
    ///
    /// - Throws: `CommandFailure` where there is none, and as above.
    init(path: String) throws(CommandFailure) {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw CommandFailure(
                .usage, "\(path): there is no such file", hint: "name one with --thresholds FILE")
        }
        try self.init(json: Array(data), path: path)
    }
}
