import FoundationEssentials

/// The wire contract in the source tree.
enum ProtoFile {
    /// The checkout, found from this file's place in it.
    static let checkout = String(#filePath.dropLast("Tests/WireTests/ProtoFile.swift".count))

    /// The lines of the .proto, without comments and blanks around them.
    static func lines() throws -> [String] {
        let path = checkout + "proto/entitled/v1/entitled.proto"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let trimmed = line.drop(while: { $0 == " " })
            return trimmed.hasPrefix("//") ? nil : String(trimmed)
        }
    }
}
