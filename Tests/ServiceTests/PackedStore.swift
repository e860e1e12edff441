import Storage

extension MemoryStore {
    /// The same records as the server stores them: payloads are packed.
    func packed() throws -> MemoryStore {
        let base = MemoryStore()
        let packing = try PackingStore(base)
        for keyspace in Keyspace.allCases {
            var changes = ChangeSet()
            try scan(keyspace, prefix: [], from: nil, reversed: false) { key, value in
                changes.put(value, for: key, in: keyspace)
                return true
            }
            try packing.commit(changes)
        }
        return base
    }
}
