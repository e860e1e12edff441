import Entitlements
import Storage

/// The facts of a customer's transactions as the store keeps them: the records one after the other
/// in an arena of bytes, and where everything stands in them.
///
/// A record is decoded into a `TransactionFact` only where somebody asks for one: that makes a
/// dozen texts, and most of a history is only folded.
struct FactSet: Sendable {
    /// The records; what was replaced stays until the set goes.
    private(set) var arena: [UInt8] = []
    /// In ascending byte order of their ids, each id once.
    private(set) var rows: [StoredFact] = []

    /// No facts.
    init() {}

    /// How many there are.
    var count: Int { rows.count }

    var isEmpty: Bool { rows.isEmpty }

    /// The fact of this transaction; nil without one.
    subscript(id: String) -> TransactionFact? { position(of: id).map { fact(at: $0) } }

    /// The same.
    subscript(id: ExactName) -> TransactionFact? { self[id.text] }

    /// Whether there is a fact of this transaction.
    func contains(_ id: String) -> Bool { position(of: id) != nil }

    /// Whether a purchase is noted on the fact of a transaction; nil without a fact.
    func isMatched(_ id: String) -> Bool? { position(of: id).map { rows[$0].isMatched } }

    /// All, decoded.
    var values: [TransactionFact] { rows.indices.map { fact(at: $0) } }

    /// The ids of all.
    var keys: [ExactName] { rows.map { ExactName(text($0.id)) } }

    /// The fact in a row, decoded.
    func fact(at position: Int) -> TransactionFact {
        do throws(StorageError) {
            return try RecordCodec.decodeTransaction(Array(arena[rows[position].record]))
        } catch {
            preconditionFailure("a record that was looked at does not decode: \(error)")
        }
    }

    /// A text of one of the rows.
    func text(_ range: TextRange) -> String { String(decoding: arena[range.range], as: UTF8.self) }

    /// The least of the texts, byte by byte; nil of none.
    func least(_ texts: some Sequence<TextRange>) -> String? {
        let bytes = arena.span
        var least: TextRange?
        for text in texts {
            guard let known = least else {
                least = text
                continue
            }
            if order(bytes, text, known) < 0 { least = text }
        }
        return least.map { text($0) }
    }
}

extension FactSet {
    /// The positions of all, newest purchase first.
    var positionsByPurchase: [Int] {
        let bytes = arena.span
        return rows.indices.sorted { isNewerPurchase(rows[$0], than: rows[$1], in: bytes) }
    }

    /// The chain of the fact in a row.
    func chain(at position: Int) -> ExactName { ExactName(text(rows[position].chain)) }

    /// The chain of each fact.
    var chains: [ExactName] { rows.indices.map { chain(at: $0) } }
}

extension FactSet {
    /// The least account in the app that one of the transactions carries.
    var leastAccount: String? { least(rows.lazy.compactMap(\.account)) }

    /// The least chain.
    var leastChain: String? { least(rows.lazy.map(\.chain)) }
}

extension FactSet {
    /// Beyond it, looking at all takes longer than looking into the store.
    private static let carryingCountMax = 64

    /// Whether one of the facts carries a name, where there are few enough to look.
    func carries(_ identity: Identity) -> Bool {
        guard count <= Self.carryingCountMax else { return false }
        let name = Array(identity.value.utf8)
        return rows.contains { row in
            let text: TextRange? =
                switch identity.kind {
                case .transaction: row.id
                case .originalTransaction: row.chain
                case .appAccountToken: row.token
                case .appTransaction: row.account
                case .customer: nil
                }
            return text.map { Int($0.count) == name.count && compare($0, with: name) == 0 } ?? false
        }
    }
}

// MARK: - Changing

extension FactSet {
    /// Adds a record of the store; ascending ids cost nothing to find their place.
    ///
    /// - Throws: `.corruptRecord` when it does not decode.
    mutating func insert(record: [UInt8]) throws(StorageError) {
        let start = arena.count
        arena.append(contentsOf: record)
        guard let row = RecordCodec.locate(in: arena.span, from: start) else {
            arena.removeLast(record.count)
            _ = try RecordCodec.decodeTransaction(record)
            throw .corruptRecord(
                keyspace: .transactions, message: "a record of \(record.count) bytes is too much")
        }
        insert(row)
    }

    /// Adds a fact, or replaces the one of the same transaction.
    mutating func put(_ fact: TransactionFact) {
        do throws(StorageError) {
            try insert(record: RecordCodec.encode(fact))
        } catch {
            preconditionFailure("a record that was just encoded does not decode: \(error)")
        }
    }

    /// Removes the fact of a transaction; none is no error.
    mutating func remove(_ id: String) {
        if let position = position(of: id) { rows.remove(at: position) }
    }

    /// The record of a transaction; nil without one.
    func record(_ id: String) -> [UInt8]? {
        position(of: id).map { Array(arena[rows[$0].record]) }
    }

    mutating func reserve(recordCount: Int, byteCount: Int) {
        rows.reserveCapacity(recordCount)
        arena.reserveCapacity(byteCount)
    }

    private mutating func insert(_ row: StoredFact) {
        let (position, isKnown) = place(of: row)
        if isKnown {
            rows[position] = row
        } else if position == rows.count {
            rows.append(row)
        } else {
            rows.insert(row, at: position)
        }
    }

    /// Where a row goes, and whether it replaces the one that is there.
    private func place(of row: StoredFact) -> (position: Int, isKnown: Bool) {
        let bytes = arena.span
        guard let last = rows.last, order(bytes, last.id, row.id) >= 0 else {
            return (rows.count, false)
        }
        let position = lowerBound { order(bytes, $0.id, row.id) < 0 }
        return (position, order(bytes, rows[position].id, row.id) == 0)
    }

    /// The row of a transaction; nil without one.
    func position(of id: String) -> Int? {
        let name = Array(id.utf8)
        let position = lowerBound { compare($0.id, with: name) < 0 }
        guard position < rows.count, compare(rows[position].id, with: name) == 0 else { return nil }
        return position
    }

    /// The first row for which `isBefore` does not hold.
    private func lowerBound(_ isBefore: (StoredFact) -> Bool) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(rows[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func compare(_ text: TextRange, with name: [UInt8]) -> Int {
        let start = Int(text.start)
        for index in 0..<min(Int(text.count), name.count) {
            let byte = arena[start + index]
            if byte != name[index] { return byte < name[index] ? -1 : 1 }
        }
        return Int(text.count) - name.count
    }
}

/// Less than, equal to or greater than zero: two texts of one arena byte by byte.
func order(_ bytes: Span<UInt8>, _ left: TextRange, _ right: TextRange) -> Int {
    var (leftIndex, rightIndex) = (Int(left.start), Int(right.start))
    for _ in 0..<min(left.count, right.count) {
        let (leftByte, rightByte) = (bytes[leftIndex], bytes[rightIndex])
        if leftByte != rightByte { return leftByte < rightByte ? -1 : 1 }
        leftIndex += 1
        rightIndex += 1
    }
    return Int(left.count) - Int(right.count)
}

/// Whether `left` is the more recent purchase; see `Transaction.isNewerPurchase`.
func isNewerPurchase(_ left: StoredFact, than right: StoredFact, in bytes: Span<UInt8>) -> Bool {
    let (leftStart, rightStart) = (left.plain.start, right.plain.start)
    if leftStart != rightStart { return leftStart > rightStart }
    if left.plain.signedDate != right.plain.signedDate {
        return left.plain.signedDate > right.plain.signedDate
    }
    // Decimal ids of different lengths are compared as numbers; see `isGreaterTransactionID`.
    if left.hasDecimalID && right.hasDecimalID && left.id.count != right.id.count {
        return left.id.count > right.id.count
    }
    return order(bytes, left.id, right.id) > 0
}
