internal import RocksDB
package import Storage

/// Bare point reads of a store that no server has open: what a check would cost without a table of
/// verdicts, with the server's own options and nothing of the server around it.
package final class StoreProbe: Sendable {
    /// Keeps servers away for as long as this lives.
    private let place: StoreDirectory
    private let database: Database

    /// Opens the store in `directory` to read it; nothing in it changes.
    ///
    /// - Throws: what opening a store throws.
    package init(
        directory: String, options: StorageOptions = StorageOptions()
    ) throws(StorageError) {
        let place = try StoreDirectory(directory)
        guard place.isFinished else {
            throw .cannotOpen(directory: directory, message: "there is no store")
        }
        database = try StoreOpening.open(place.databasePath, .readOnly, options).database
        self.place = place
    }

    /// How many bytes the value under `key` has, read where it lies; nil when there is none.
    ///
    /// - Throws: `.damaged`, `.unavailable`.
    package func byteCount(
        of key: [UInt8], in keyspace: Keyspace
    ) throws(StorageError) -> Int? {
        do throws(RocksDBError) {
            guard let value = try database.value(for: key, in: StoreOpening.family(of: keyspace))
            else { return nil }
            return value.bytes.count
        } catch {
            throw StorageError(reading: error)
        }
    }
}
