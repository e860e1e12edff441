internal import AppStore
internal import ToolSupport

/// Why a line of a file is not taken in.
struct LineFault: Error, Equatable, Sendable {
    /// UPPER_SNAKE, for machines: one of the server's, or one of those here.
    let reason: String
    /// For people.
    let message: String

    /// Not UTF-8, no JSON object, or quoted as RFC 4180 does not allow.
    static func malformed(_ message: String) -> LineFault {
        LineFault(reason: "MALFORMED_LINE", message: message)
    }

    /// A value that is none of its kind.
    static func value(_ column: String, _ message: String) -> LineFault {
        LineFault(reason: "MALFORMED_VALUE", message: "\(column): \(message)")
    }

    static let tooLong = LineFault(
        reason: "LINE_TOO_LONG", message: "more than \(RecordReader.byteCountMax) bytes")
}

/// The cells of one line, by the names of their columns; what is null is empty.
struct ImportRecord: Equatable, Sendable {
    /// On which the record begins, from 1.
    let line: Int
    let cells: Result<[String: String], LineFault>
}

/// The bytes of a file, in pieces.
struct ImportSource: Sendable {
    /// What was read before.
    var pieces: [[UInt8]]
    /// What is open; nil: there is nothing more.
    var descriptor: Int32?

    /// The next bytes; none at the end.
    mutating func next(byteCountMax: Int) throws(CommandFailure) -> [UInt8] {
        while let piece = pieces.first {
            pieces.removeFirst()
            if !piece.isEmpty { return piece }
        }
        guard let descriptor else { return [] }
        while !SystemCalls.isReadable(descriptor, within: 200) {
            // A reader who waits for a person at a terminal must hear his Ctrl-C.
            guard Interruption.signalNumber == nil else { throw .interruptedImport }
        }
        return try SystemCalls.read(descriptor, byteCountMax: byteCountMax)
    }
}

extension CommandFailure {
    static let interruptedImport = CommandFailure(.interrupted, "interrupted")
}

/// Reads an exported file record by record, in pieces: what is wrong with a record costs that
/// record, and no memory.
struct RecordReader: Sendable {
    /// A frame is at most 1 MiB, and a record of CSV may be longer than what it says.
    static let byteCountMax = 4 << 20
    private static let chunkByteCount = 1 << 16

    private let isCSV: Bool
    private var source: ImportSource
    private var buffer: [UInt8] = []
    private var start = 0
    private var line = 1
    private var isAtEnd = false
    private var columns: [String]?

    /// A reader of `source`.
    init(isCSV: Bool, source: ImportSource) {
        self.isCSV = isCSV
        self.source = source
    }

    /// The next record; nil after the last.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read, or a CSV file has no line of names.
    mutating func next() throws(CommandFailure) -> ImportRecord? {
        if line == 1, start == 0, buffer.isEmpty, !isAtEnd { try begin() }
        return isCSV ? try nextOfCSV() : try nextOfJSON()
    }

    /// Passes over the mark that some editors put before UTF-8.
    private mutating func begin() throws(CommandFailure) {
        while buffer.count < 3, !isAtEnd { try fill() }
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
    }

    private mutating func fill() throws(CommandFailure) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        let bytes = try source.next(byteCountMax: Self.chunkByteCount)
        isAtEnd = bytes.isEmpty
        buffer += bytes
    }

    /// Takes the bytes of a line, without its end; nil when it is longer than the most, and gone.
    private mutating func takeLine() throws(CommandFailure) -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let bytes = buffer[start..<end]
                start = end + 1
                line += 1
                return bytes.count <= Self.byteCountMax ? bytes : nil
            }
            if isAtEnd {
                let bytes = buffer[start...]
                start = buffer.count
                return bytes.count <= Self.byteCountMax ? bytes : nil
            }
            if buffer.count - start > Self.byteCountMax {
                try skipLine()
                return nil
            }
            searched = buffer.count - start
            try fill()
        }
    }

    /// Passes over the rest of a line that is not kept.
    private mutating func skipLine() throws(CommandFailure) {
        while true {
            if let end = buffer[start...].firstIndex(of: 0x0A) {
                start = end + 1
                line += 1
                return
            }
            start = buffer.count
            if isAtEnd { return }
            try fill()
        }
    }

    /// Whether nothing is left.
    private mutating func isExhausted() throws(CommandFailure) -> Bool {
        while start == buffer.count, !isAtEnd { try fill() }
        return start == buffer.count
    }
}

// MARK: - JSON, an object a line

extension RecordReader {
    private mutating func nextOfJSON() throws(CommandFailure) -> ImportRecord? {
        while try !isExhausted() {
            let number = line
            guard let bytes = try takeLine() else {
                return ImportRecord(line: number, cells: .failure(.tooLong))
            }
            let blanks: [UInt8] = [0x20, 0x09, 0x0D]
            if bytes.allSatisfy({ blanks.contains($0) }) { continue }
            return ImportRecord(line: number, cells: Self.cells(Array(bytes)))
        }
        return nil
    }

    private static func cells(_ bytes: [UInt8]) -> Result<[String: String], LineFault> {
        let object: JSONObject
        do throws(JSONError) {
            object = try JSONObject(bytes)
        } catch {
            return .failure(.malformed("\(error)"))
        }
        var cells: [String: String] = [:]
        for column in ImportColumn.allCases {
            guard object.contains(column.rawValue) else { continue }
            switch object.value(column.rawValue) {
            case nil: cells[column.rawValue] = ""
            case .boolean(let flag): cells[column.rawValue] = "\(flag)"
            case let value?:
                guard let text = object.text(value) else {
                    return .failure(.value(column.rawValue, "it is no text"))
                }
                cells[column.rawValue] = text
            }
        }
        return .success(cells)
    }
}

// MARK: - Comma-separated values

extension RecordReader {
    private mutating func nextOfCSV() throws(CommandFailure) -> ImportRecord? {
        if columns == nil {
            guard let names = try takeRecord() else {
                throw CommandFailure(.failed, "line 1: there is no line with the names of columns")
            }
            columns = try ImportColumn.named(names.fields)
        }
        guard let columns, let record = try takeRecord() else { return nil }
        let cells = record.fields.flatMap { fields -> Result<[String: String], LineFault> in
            guard fields.count == columns.count else {
                return .failure(
                    .malformed("\(fields.count) values under \(columns.count) names"))
            }
            let pairs = zip(columns, fields.map(ExportCell.unguarded))
            return .success(Dictionary(pairs, uniquingKeysWith: { _, last in last }))
        }
        return ImportRecord(line: record.line, cells: cells)
    }

    private typealias Fields = (line: Int, fields: Result<[String], LineFault>)

    /// The fields of the next record that is not empty. One that is wrong is over at the end of the
    /// line on which it begins: a quotation mark that nothing ends does not swallow the file.
    private mutating func takeRecord() throws(CommandFailure) -> Fields? {
        while try !isExhausted() {
            let number = line
            var parser = CSVRecord()
            var outcome = parser.read(buffer[start...], isLast: isAtEnd)
            while outcome == .needsMore, buffer.count - start <= Self.byteCountMax {
                try fill()
                outcome = parser.read(buffer[(start + parser.byteCount)...], isLast: isAtEnd)
            }
            guard case .whole(let end) = outcome, end - start <= Self.byteCountMax else {
                let isShort = try takeLine() != nil
                return (
                    number,
                    .failure(isShort ? .malformed("the quotation marks are wrong") : .tooLong)
                )
            }
            line += buffer[start..<end].count { $0 == 0x0A }
            start = end
            guard let fields = parser.texts else {
                return (number, .failure(.malformed("it is not UTF-8")))
            }
            if fields != [""] { return (number, .success(fields)) }
        }
        return nil
    }
}

/// One record of RFC 4180, read in pieces.
private struct CSVRecord {
    enum Outcome: Equatable {
        /// It ends before this position.
        case whole(Int)
        case needsMore
        case wrong
    }

    private enum State {
        case fieldStart, plain, quoted, quoteInQuoted, returned
    }

    private var state = State.fieldStart
    private var fields: [[UInt8]] = [[]]
    /// How much of it was looked at.
    private(set) var byteCount = 0

    /// The fields as text; nil when one is not UTF-8.
    var texts: [String]? {
        var texts: [String] = []
        for field in fields {
            guard let text = String(validating: field, as: UTF8.self) else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// Reads on; `isLast` says that the file ends with `bytes`.
    mutating func read(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> Outcome {
        for index in bytes.indices {
            byteCount += 1
            switch step(bytes[index]) {
            case .needsMore: continue
            case .whole: return .whole(index + 1)
            case .wrong: return .wrong
            }
        }
        guard isLast else { return .needsMore }
        return state == .quoted ? .wrong : .whole(bytes.endIndex)
    }

    /// Takes one byte; the position in `.whole` means nothing.
    private mutating func step(_ byte: UInt8) -> Outcome {
        let (quote, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        switch (state, byte) {
        case (.quoted, quote): state = .quoteInQuoted
        case (.quoted, _): fields[fields.count - 1].append(byte)
        case (.returned, 0x0A), (.fieldStart, 0x0A), (.plain, 0x0A), (.quoteInQuoted, 0x0A):
            return .whole(0)
        case (.returned, _): return .wrong
        case (_, 0x0D): state = .returned
        case (.fieldStart, quote): state = .quoted
        case (.quoteInQuoted, quote):
            fields[fields.count - 1].append(quote)
            state = .quoted
        case (_, comma):
            fields.append([])
            state = .fieldStart
        case (.plain, quote), (.quoteInQuoted, _): return .wrong
        case (.fieldStart, _), (.plain, _):
            fields[fields.count - 1].append(byte)
            state = .plain
        }
        return .needsMore
    }
}
