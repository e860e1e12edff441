import RocksDB
import Testing

@Suite struct RocksDBErrorTests {
    static let messages: [(String, RocksDBError.Kind)] = [
        ("Corruption: block checksum mismatch", .corruption),
        ("IO error: No space left on device: While appending to file: /x/1.log", .noSpace),
        ("IO error: While appending to file: /x/1.log: File too large", .inputOutput),
        ("IO error: While mkdir if missing: /x: Permission denied", .noPermission),
        ("IO error: lock hold by current process, acquire time 1: /x/LOCK", .heldHere),
        ("IO error: While lock file: /x/LOCK: Resource temporarily unavailable", .busy),
        ("Resource busy: ", .busy),
        ("Invalid argument: Column families not opened: other", .invalidArgument),
        ("Not implemented: Not supported operation in read only mode.", .notSupported),
        ("Result incomplete: ", .other), ("", .other),
        ("Somebody said Corruption: ", .other),
    ]

    @Test(arguments: messages)
    func `the first words of a status are its kind`(message: String, kind: RocksDBError.Kind) {
        let error = RocksDBError(operation: "open", message: message)
        #expect(error.kind == kind)
        #expect(error.description == "open: " + message)
    }
}
