internal import RocksDBStorage
internal import Storage

/// The tables of one stretch of customers: one per stream, and the matches sorted in memory.
struct BulkTables: BulkSink, ~Copyable {
    /// With more transactions per customer than this there is one table of matches per stretch.
    static let splitCountMax = 8

    private let loader: StoreLoader
    private let number: Int
    private let splitsMatches: Bool
    private var names: StoreTable
    private var tokens: StoreTable
    private var accounts: StoreTable
    private var chains: StoreTable
    private var transactionIDs: StoreTable
    private var customers: StoreTable
    private var transactions: StoreTable
    private var renewals: StoreTable
    private var snapshots: StoreTable
    private var history: StoreTable
    private var audit: StoreTable
    private var refunds: StoreTable
    private var signedTransactions: StoreTable
    private var signedRenewals: StoreTable
    private var matches: [BulkMatch] = []

    /// The tables of stretch `number`, all empty.
    ///
    /// With `splitsMatches` each product and period has a table of matches of its own: then the
    /// tables of two stretches never overlap, and nothing has to be merged later.
    init(loader: StoreLoader, number: Int, splitsMatches: Bool) {
        func table(_ stream: BulkStream) -> StoreTable {
            loader.table(of: stream.keyspace, named: "\(stream)-\(number)")
        }
        self.loader = loader
        self.number = number
        self.splitsMatches = splitsMatches
        names = table(.names)
        tokens = table(.tokens)
        accounts = table(.accounts)
        chains = table(.chains)
        transactionIDs = table(.transactionIDs)
        customers = table(.customers)
        transactions = table(.transactions)
        renewals = table(.renewals)
        snapshots = table(.snapshots)
        history = table(.history)
        audit = table(.audit)
        refunds = table(.refunds)
        signedTransactions = table(.signedTransactions)
        signedRenewals = table(.signedRenewals)
    }

    mutating func put(
        _ value: [UInt8], for key: [UInt8], in stream: BulkStream
    ) throws(StorageError) {
        switch stream {
        case .names: try names.put(value, for: key)
        case .tokens: try tokens.put(value, for: key)
        case .accounts: try accounts.put(value, for: key)
        case .chains: try chains.put(value, for: key)
        case .transactionIDs: try transactionIDs.put(value, for: key)
        case .customers: try customers.put(value, for: key)
        case .transactions: try transactions.put(value, for: key)
        case .renewals: try renewals.put(value, for: key)
        case .snapshots: try snapshots.put(value, for: key)
        case .history: try history.put(value, for: key)
        case .audit: try audit.put(value, for: key)
        case .refunds: try refunds.put(value, for: key)
        case .signedTransactions: try signedTransactions.put(value, for: key)
        case .signedRenewals: try signedRenewals.put(value, for: key)
        case .matches: matches.append(BulkMatch(key: key, value: value))
        }
    }

    /// Completes all of them.
    ///
    /// - Throws: what writing them throws.
    consuming func finish() throws(StorageError) -> [FinishedTable] {
        var finished = try finishMatches()
        func keep(_ table: FinishedTable?) { if let table { finished.append(table) } }
        keep(try names.finish())
        keep(try tokens.finish())
        keep(try accounts.finish())
        keep(try chains.finish())
        keep(try transactionIDs.finish())
        keep(try customers.finish())
        keep(try transactions.finish())
        keep(try renewals.finish())
        keep(try snapshots.finish())
        keep(try history.finish())
        keep(try audit.finish())
        keep(try refunds.finish())
        keep(try signedTransactions.finish())
        keep(try signedRenewals.finish())
        return finished
    }

    private mutating func finishMatches() throws(StorageError) -> [FinishedTable] {
        matches.sort { $0.key.lexicographicallyPrecedes($1.key) }
        var finished: [FinishedTable] = []
        var rest = matches[...]
        while let first = rest.first {
            let end =
                splitsMatches
                ? rest.firstIndex { $0.isApart(from: first) } ?? rest.endIndex : rest.endIndex
            var table = loader.table(of: .matches, named: "\(number)-\(finished.count)")
            for match in rest[..<end] { try table.put(match.value, for: match.key) }
            if let table = try table.finish() { finished.append(table) }
            rest = rest[end...]
        }
        matches = []
        return finished
    }
}

/// A record of `matches`.
private struct BulkMatch {
    let key: [UInt8]
    let value: [UInt8]

    /// Whether `other`, which comes before it, is of another world or another period.
    ///
    /// The key has the scope, two bytes of all ones, and the purchase date; the customers of a
    /// stretch bought within days, and periods are years apart.
    func isApart(from other: BulkMatch) -> Bool {
        let dateOffset = 4
        guard key[..<dateOffset] == other.key[..<dateOffset] else { return true }
        return milliseconds(at: dateOffset) - other.milliseconds(at: dateOffset)
            > SeedCalendar.span / Int64(4 * BulkTables.splitCountMax)
    }

    private func milliseconds(at offset: Int) -> Int64 {
        Int64(bitPattern: key[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) })
    }
}
