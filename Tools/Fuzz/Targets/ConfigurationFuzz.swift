import entitled

/// Configurations: a refusal says what is wrong, and what the server lists it reads as the same.
enum ConfigurationFuzz {
    /// One byte tells how many of the bytes behind it are flags and variables, a line each; the
    /// rest is the file.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let lines = script.bytes(Int(script.byte()))
            .split(separator: UInt8(ascii: "\n"))
            .map { String(decoding: $0, as: UTF8.self) }
        var environment: [String: String] = [:]
        for line in lines where line.utf8.starts(with: "ENTITLED_".utf8) {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            environment[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        let arguments = lines.filter { !$0.utf8.starts(with: "ENTITLED_".utf8) }
        let trial = ConfigurationTrial(
            file: script.remainder(), arguments: arguments, environment: environment)
        try expect(trial.listing.isEmpty != trial.problems.isEmpty, "neither started nor refused")
        try expect(!trial.problems.contains(""), "a problem without words")
        guard !trial.listing.isEmpty else { return }
        let once = ConfigurationTrial(file: Array(trial.listing.utf8))
        try expect(
            once.problems.isEmpty, "a listing is refused: \(once.problems)\n\(trial.listing)")
        let twice = ConfigurationTrial(file: Array(once.listing.utf8))
        try expect(twice.listing == once.listing, "a listing changes:\n\(once.listing)")
        // A relative path of a flag or a variable begins elsewhere than one in a file.
        guard lines.isEmpty else { return }
        let values = [trial.listing, once.listing].map(Self.values)
        try expect(values[0] == values[1], "a listing says something else:\n\(trial.listing)")
    }

    /// The lines without their comments, which name sources.
    private static func values(_ listing: String) -> [Substring] {
        listing.split(separator: "\n").filter { !$0.hasPrefix("//") }
            .map { line in
                // A comment follows the comma behind a value; texts may hold slashes as well.
                guard let mark = line.ranges(of: ", // ").last else { return line }
                return line[..<mark.lowerBound]
            }
    }
}
