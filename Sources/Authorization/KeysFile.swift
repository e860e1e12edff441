/// Why a keys file is not taken. Never with what is in it, but for names of fields and values that
/// are no secret.
package struct KeysFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// From 1 on; 0: it is about the whole.
    package let line: Int
    /// What was found and what was expected.
    package let message: String

    /// For people, after the file's name.
    package var description: String { line == 0 ? message : "line \(line): \(message)" }
}

/// The callers that a server knows: one record a line, as JSON.
///
/// ```
/// # Lines that begin with # are comments; empty lines are allowed.
/// {"id":"k7wq2mzpaf","name":"backend","roles":["check","ingest"],"apps":["com.example.meadow"],
///  "created":"2026-12-01T00:00:00Z","expires":0,"revoked":false,"sha256":"64 hexadecimal digits"}
/// ```
///
/// (A record stands on one line; it is broken here for the page.) `id`, `name`, `roles` and one of
/// `sha256` and `certificate` must be there. Whatever is not understood makes the whole file be
/// refused: a misspelt `expires` must not make a key eternal.
package struct KeysFile: Hashable, Sendable {
    /// The longest file, in bytes: some thousands of records.
    package static let byteCountMax = 4 << 20
    /// The most records.
    package static let recordCountMax = 10_000

    /// The lines as they stand in the file, without their line feeds.
    private var lines: [String]
    /// The records in their order, with the positions of their lines.
    private var places: [(record: KeyRecord, line: Int)]

    /// The records in their order.
    package var records: [KeyRecord] { places.map(\.record) }

    /// A file without a record: nobody may call.
    package init() { (lines, places) = ([], []) }

    /// Reads a whole file.
    ///
    /// - Throws: `KeysFileError`: what is wrong with the first line that is not understood.
    package init(_ bytes: [UInt8]) throws(KeysFileError) {
        guard bytes.count <= Self.byteCountMax else {
            throw KeysFileError(line: 0, message: "it is longer than \(Self.byteCountMax) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw KeysFileError(line: 0, message: "it is no UTF-8 text")
        }
        // By scalars: "\r\n" is one Character, at which a split by "\n" would not part lines.
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String(String.UnicodeScalarView($0)) }
        if lines.last?.isEmpty == true { lines.removeLast() }
        places = []
        var seen: [String: Int] = [:]
        for (index, line) in lines.enumerated() {
            let content = line.unicodeScalars.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let first = content.first, first != "#" else { continue }
            let record: KeyRecord
            do throws(KeyLine.Failure) {
                record = try KeyRecord(line: line)
            } catch {
                throw KeysFileError(line: index + 1, message: error.message)
            }
            if let other = seen.updateValue(index + 1, forKey: record.id) {
                throw KeysFileError(
                    line: index + 1, message: "the id `\(record.id)` stands in line \(other) too")
            }
            places.append((record, index))
        }
        guard places.count <= Self.recordCountMax else {
            throw KeysFileError(line: 0, message: "it has more than \(Self.recordCountMax) records")
        }
    }

    /// The whole file, with every comment where it was.
    package var text: String { lines.map { $0 + "\n" }.joined() }

    /// Adds a record at the end. Its id must be new.
    package mutating func append(_ record: KeyRecord) {
        precondition(!places.contains { $0.record.id == record.id }, "ids are made at random")
        places.append((record, lines.count))
        lines.append(record.line)
    }

    /// Marks a record as revoked; nil where none has this id. Its line is written anew.
    package mutating func revoke(id: String) -> KeyRecord? {
        guard let index = places.firstIndex(where: { $0.record.id == id }) else { return nil }
        places[index].record.isRevoked = true
        lines[places[index].line] = places[index].record.line
        return places[index].record
    }

    /// Whether the records are the same, whatever the comments between them say.
    package static func == (left: KeysFile, right: KeysFile) -> Bool {
        left.records == right.records
    }

    /// Hashes what is compared.
    package func hash(into hasher: inout Hasher) { hasher.combine(records) }
}
