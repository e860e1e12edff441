import FoundationEssentials

/// The wire contract in the source tree.
enum ProtoFile {
    /// A field as the contract declares it.
    struct Field: Equatable {
        let name: String
        let type: String
    }

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

    /// The fields of every message by their numbers, those of oneofs among them.
    static func messages() throws -> [String: [UInt64: Field]] {
        var messages: [String: [UInt64: Field]] = [:]
        var current: String?
        for line in try lines() {
            var words = line.split(whereSeparator: { " =;{}".contains($0) }).map(String.init)
            switch words.first {
            case "message":
                current = words[1]
                messages[words[1]] = [:]
            case "enum", "service":
                current = nil
            case "oneof", nil:
                break
            default:
                if words[0] == "repeated" { words.removeFirst() }
                guard let current, words.count == 3, let number = UInt64(words[2]) else { break }
                messages[current]?[number] = Field(name: words[1], type: words[0])
            }
        }
        return messages
    }
}
