import Storage

extension Ledger {
    /// Adds what was granted to what is stored of the same transactions and days.
    ///
    /// It takes no revision: no answer about access depends on it.
    mutating func apply(_ usage: Event.Usage) throws(LedgerFailure) -> WriteReply {
        let scope = try number(of: usage.scope)
        for entry in usage.entries {
            let key = Key.usage(entry.transactionID, on: entry.day, in: scope)
            let stored = try workspace.value(for: key, in: .usage)
            var record = try reading { () throws(StorageError) in
                try stored.map { (bytes) throws(StorageError) in
                    try RecordCodec.decodeUsage(bytes)
                } ?? UsageRecord()
            }
            record.add(entry.use)
            workspace.appended.put(RecordCodec.encode(record), for: key, in: .usage)
        }
        return .noted(revision: workspace.revision)
    }
}
