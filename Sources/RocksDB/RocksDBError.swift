internal import CRocksDB

/// What RocksDB said went wrong.
package struct RocksDBError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The class of a RocksDB status, as far as its C interface tells: by the text in front.
    package enum Kind: Equatable, Sendable {
        /// Damaged data: a checksum, a missing file, a record that does not parse.
        case corruption
        /// The operating system refused a read or a write.
        case inputOutput
        /// The process may not use a file.
        case noPermission
        /// The disk, or the space allowed, is full.
        case noSpace
        /// Another process holds the database.
        case busy
        /// This process holds the database.
        case heldHere
        /// The call or an option is wrong, or the data need an option that was not given.
        case invalidArgument
        /// This build cannot do what the data need (a codec, a newer file format).
        case notSupported
        /// Anything else: the message says what.
        case other
    }

    /// The class.
    package let kind: Kind
    /// What was attempted: "open", "write", ...
    package let operation: String
    /// RocksDB's own words; file paths of the store, never keys or values.
    package let message: String

    /// Reads the class of `message` from its first words (`Status::ToString`).
    package init(operation: String, message: String) {
        self.operation = operation
        self.message = message
        let kind = Self.kinds.first { message.hasPrefix($0.prefix) }?.kind ?? .other
        let isRefused = kind == .inputOutput && message.hasSuffix(": Permission denied")
        self.kind = isRefused ? .noPermission : kind
    }

    package var description: String { "\(operation): \(message)" }

    /// `Status::ToString` of RocksDB 7.8 writes the code first and then the subcode.
    private static let kinds: [(prefix: String, kind: Kind)] = [
        ("Corruption: ", .corruption),
        ("IO error: No space left on device", .noSpace),
        ("IO error: Space limit reached", .noSpace),
        ("IO error: lock hold by current process", .heldHere),
        ("IO error: While lock file: ", .busy),
        ("IO error: ", .inputOutput),
        ("Resource busy: ", .busy),
        ("Invalid argument: ", .invalidArgument),
        ("Not implemented: ", .notSupported),
    ]
}

/// Calls `body` with the error pointer of RocksDB's C convention; throws what it reports.
///
/// The text that the library allocates is copied and freed here, and nowhere else.
func throwing<Result>(
    _ operation: String,
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) throws(RocksDBError) -> Result {
    var text: UnsafeMutablePointer<CChar>?
    let result = unsafe body(&text)
    guard let text = unsafe text else { return result }
    let message = unsafe String(cString: text)
    unsafe rocksdb_free(text)
    throw RocksDBError(operation: operation, message: message)
}
