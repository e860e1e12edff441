internal import RocksDB
internal import Storage

// What the library and the operating system report, in the words of `StorageError`.

extension StorageError {
    /// A file operation on a store's directory failed.
    init(_ error: FileError, directory: String) {
        switch error.kind {
        case .noPermission:
            self = .noPermission(directory: directory, message: error.description)
        case .notFound, .exists:
            self = .cannotOpen(directory: directory, message: error.description)
        case .noSpace, .locked, .other:
            self = .unavailable(message: error.description)
        }
    }

    /// A database could not be opened.
    init(opening error: RocksDBError, directory: String) {
        switch error.kind {
        case .corruption, .invalidArgument:
            self = .damaged(message: "\(directory): \(error.message)")
        case .noPermission:
            self = .noPermission(directory: directory, message: error.message)
        case .busy, .heldHere:
            self = .locked(directory: directory, message: error.message)
        case .notSupported:
            self = .cannotOpen(directory: directory, message: error.message)
        case .inputOutput, .noSpace, .other:
            self = .unavailable(message: error.message)
        }
    }

    /// A read failed.
    init(reading error: RocksDBError) {
        switch error.kind {
        case .corruption: self = .damaged(message: error.message)
        default: self = .unavailable(message: error.description)
        }
    }
}

/// Calls `body`, which reads or writes files of the store in `directory`.
func onFiles<Result>(
    of directory: String, _ body: () throws(FileError) -> Result
) throws(StorageError) -> Result {
    do {
        return try body()
    } catch {
        throw StorageError(error, directory: directory)
    }
}
