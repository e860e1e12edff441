import Storage

extension EntitlementWriter {
    /// Puts the records of `matches` in order of dates, where an earlier release had them in the
    /// order of products. May be cut short and run again: what is moved is told from what is not.
    ///
    /// - Throws: what the store throws.
    func placeMatchesByDate() throws(StorageError) {
        for scope in try numberedScopes() {
            while true {
                let changes = try misplacedMatches(of: scope)
                if changes.isEmpty { break }
                try commit(changes)
            }
        }
    }

    private static var batchRecordCountMax: Int { 4_096 }

    /// Some of the changes that put matches in order; they come first in the order of keys.
    private func misplacedMatches(of scope: ScopeNumber) throws(StorageError) -> ChangeSet {
        var changes = ChangeSet()
        var count = 0
        try scan(
            .matches, prefix: Key.scopePrefix(scope), from: nil, reversed: false
        ) { key, value in
            guard count < Self.batchRecordCountMax,
                let placed = Key.matchByDate(ofEarlierKey: key)
            else { return false }
            count += 1
            changes.delete(key, in: .matches)
            changes.put(value, for: placed, in: .matches)
            return true
        }
        return changes
    }
}
