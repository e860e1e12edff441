import FoundationEssentials
import RocksDB
import RocksDBStorage
import Storage
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What only a store on disk can do: be closed, opened again, refused, crash.
@Suite struct RocksDBStoreTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("data")
    }

    private func open() throws(StorageError) -> RocksDBStore {
        try RocksDBStore(directory: path, options: .small)
    }

    // MARK: Opening

    @Test func `a missing directory is made, for its owner only, with a readable format mark`()
        throws
    {
        let store = try open()
        #expect(store.isWritable)
        #expect(DiskFault.status(of: path).permissions == 0o700)
        let text = try String(contentsOfFile: path + "/FORMAT", encoding: .utf8)
        #expect(text == "entitled data format 2\n")
        #expect(try Set(Files.names(in: path)) == ["ACKNOWLEDGED", "FORMAT", "LOCK", "store"])
    }

    @Test func `an empty directory, also a mount point, becomes a store`() throws {
        try Files.makeDirectory(path)
        try Files.makeDirectory(path + "/lost+found")
        let store = try open()
        try store.put([[1]])
    }

    @Test func `a store closed and opened again holds all its records`() throws {
        let store = try open()
        for byte in UInt8(0)..<50 { try store.put([[byte]], value: [byte], in: .transactions) }
        var changes = ChangeSet()
        changes.delete([7], in: .transactions)
        try store.commit(changes)
        let records = try store.records(.transactions)
        #expect(records.count == 49)
        store.close()
        let again = try open()
        #expect(try again.records(.transactions) == records)
    }

    @Test func `a closed store refuses, and closing twice is closing once`() throws {
        let store = try open()
        store.close()
        store.close()
        let expected = StorageError.unavailable(message: "the store is closed")
        #expect(throws: expected) { try store.value(for: [1], in: .meta) }
        #expect(throws: expected) { try store.keys(.meta) }
        #expect(throws: StorageError.self) { try store.put([[1]]) }
        let again = try open()
        #expect(try again.keys(.customers) == [])
    }

    @Test func `a snapshot is over when its call is, and empty of a closed store`() throws {
        let store = try open()
        try store.put([[1]])
        let escaped = store.withSnapshot { $0 }
        let expected = StorageError.unavailable(message: "the snapshot is over")
        #expect(throws: expected) { try escaped.value(for: [1], in: .customers) }
        #expect(throws: expected) { try escaped.keys(.customers) }
        store.close()
        store.withSnapshot { snapshot in
            let expected = StorageError.unavailable(message: "the store is closed")
            #expect(throws: expected) { try snapshot.value(for: [1], in: .customers) }
        }
        // The snapshot that escaped does not keep the database open.
        let again = try open()
        #expect(try again.keys(.customers) == [[1]])
    }

    @Test func `letting go of a store closes it`() throws {
        do {
            let store = try open()
            try store.put([[1]])
        }
        let again = try open()
        #expect(try again.keys(.customers) == [[1]])
    }

    // MARK: Refusals

    @Test func `a directory without a parent is refused and not made`() throws {
        let missing = directory.appending("no/data")
        #expect(
            throws: StorageError.cannotOpen(
                directory: missing,
                message: "\(directory.appending("no")), where it should be made, is no directory")
        ) { try RocksDBStore(directory: missing, options: .small) }
        #expect(try Files.entry(at: directory.appending("no")) == nil)
    }

    @Test func `a file is no directory`() throws {
        try Files.replace(path, with: [1])
        #expect(
            throws: StorageError.cannotOpen(
                directory: path, message: "it is not a directory")
        ) { try open() }
        #expect(try Files.read(path) == [1])
    }

    @Test func `a directory of somebody else's is refused and left alone`() throws {
        try Files.makeDirectory(path)
        try Files.replace(path + "/photo.jpg", with: [1])
        #expect(
            throws: StorageError.foreignDirectory(
                directory: path,
                message: "it holds photo.jpg and no FORMAT file; name an empty or a new directory")
        ) { try open() }
        #expect(try Files.names(in: path) == ["photo.jpg"])
    }

    @Test func `another RocksDB database is refused`() throws {
        try Files.makeDirectory(path)
        try Files.makeDirectory(path + "/store")
        try Files.replace(path + "/store/000004.sst", with: [1])
        #expect(
            throws: StorageError.foreignDirectory(
                directory: path + "/store",
                message: "it holds 000004.sst, but no database that could be opened")
        ) { try open() }
    }

    static let formats: [(text: String, isNewer: Bool)] = [
        ("entitled data format 3\n", true), ("entitled data format 18446744073709551615\n", true),
        ("entitled data format 0\n", false), ("entitled data format 2", false),
        ("entitled data format -1\n", false), ("entitled data format \n", false), ("", false),
        ("something else\n", false),
    ]

    @Test(arguments: formats)
    func `a format mark that this release does not know is refused before the data are touched`(
        text: String, isNewer: Bool
    ) throws {
        try open().close()
        try Files.replace(path + "/FORMAT", with: Array(text.utf8))
        let before = try Files.names(in: path + "/store").sorted()
        let error = #expect(throws: StorageError.self) { try open() }
        switch error {
        case .newerFormat(let directory, let found, let supported):
            #expect(isNewer && directory == path && found > 2 && supported == 2)
        case .damaged(let message): #expect(!isNewer && message.contains("FORMAT"))
        default: Issue.record("unexpected \(String(describing: error))")
        }
        #expect(try Files.names(in: path + "/store").sorted() == before)
    }

    @Test func `a store of the format before opens as it is, and then refuses earlier releases`()
        throws
    {
        let store = try open()
        try store.put([[1]])
        store.close()
        try setMark([0, 0, 0, 0, 0, 0, 0, 1])
        try Files.replace(path + "/FORMAT", with: Array("entitled data format 1\n".utf8))
        let opened = try open()
        #expect(try opened.value(for: [1], in: .customers) != nil)
        opened.close()
        let text = String(decoding: try Files.read(path + "/FORMAT"), as: UTF8.self)
        #expect(text == "entitled data format 2\n")
        try setMark([0, 0, 0, 0, 0, 0, 0, 9])
        #expect(throws: StorageError.self) { try open() }
    }

    /// Writes the mark inside the database of a closed store.
    private func setMark(_ mark: [UInt8]) throws {
        let names = try Database.familyNames(in: path + "/store")
        let database = try Database(
            directory: path + "/store", mode: .readWrite, options: DatabaseOptions(),
            families: names.map { ($0, FamilyOptions()) })
        let own = try #require(names.firstIndex(of: "default"))
        var batch = WriteBatch()
        batch.put(mark, for: Array("format".utf8), in: ColumnFamily(index: own), of: database)
        try database.write(batch, synced: true)
    }

    @Test(arguments: [([0, 0, 0, 0, 0, 0, 0, 9], true), ([1], false), ([], false)])
    func `the mark inside the database counts too`(mark: [UInt8], isNewer: Bool) throws {
        try open().close()
        try setMark(mark)
        let error = #expect(throws: StorageError.self) { try open() }
        switch error {
        case .newerFormat(_, let found, _): #expect(isNewer && found == 9)
        case .damaged: #expect(!isNewer)
        default: Issue.record("unexpected \(String(describing: error))")
        }
    }

    @Test(arguments: ["store", "store/CURRENT"])
    func `a finished store that lost its database is damaged, not new`(name: String) throws {
        let store = try open()
        try store.put([[1]])
        store.close()
        try FileManager.default.removeItem(atPath: path + "/" + name)
        #expect(throws: StorageError.damaged(message: "\(path)/\(name) is missing")) { try open() }
    }

    @Test(arguments: [["store"], ["store", "store/LOG"], ["LOCK"], ["FORMAT.new"]])
    func `a store whose making was interrupted is made`(names: [String]) throws {
        try Files.makeDirectory(path)
        for name in names {
            if name == "store" {
                try Files.makeDirectory(path + "/store")
            } else {
                try Files.replace(path + "/" + name, with: [])
            }
        }
        let store = try open()
        try store.put([[1]])
        #expect(try Files.names(in: path).contains("FORMAT"))
    }

    @Test func `a store that was made up to its format mark is finished at the next start`() throws
    {
        try open().close()
        try FileManager.default.removeItem(atPath: path + "/FORMAT")
        try open().close()
        #expect(try Files.names(in: path).contains("FORMAT"))
    }

    @Test func `a second opening in the same process is refused with the holder's id`() throws {
        let store = try open()
        #expect(
            throws: StorageError.locked(
                directory: path, message: "process \(getpid()) uses it")
        ) { try open() }
        try store.put([[1]])
    }

    @Test func `another process is refused with the holder's id, and let in afterwards`()
        async throws
    {
        let store = try open()
        let holder = getpid()
        await #expect(processExitsWith: .success) {
            [path = path as String, holder = holder as Int32] in
            #expect(
                throws: StorageError.locked(
                    directory: path, message: "process \(holder) uses it")
            ) { try RocksDBStore(directory: path, options: .small) }
        }
        store.close()
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try RocksDBStore(directory: path, options: .small)
            try store.put([[1]])
            store.close()
        }
        let again = try open()
        #expect(try again.keys(.customers) == [[1]])
    }

    @Test(arguments: [0o500, 0o600, 0o000])
    func `a directory without the rights is refused as such`(permissions: Int) async throws {
        try open().close()
        DiskFault.setPermissions(0o755, of: directory.path)
        DiskFault.setPermissions(permissions, of: path)
        await #expect(processExitsWith: .success) { [path = path as String] in
            // Root may do anything.
            if geteuid() == 0 { #expect(DiskFault.becomeNobody()) }
            let error = #expect(throws: StorageError.self) {
                try RocksDBStore(directory: path, options: .small)
            }
            guard case .noPermission(path, _) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
        }
    }

    // MARK: Options

    @Test func `syncing at intervals keeps all records of a store that is closed`() throws {
        var options = StorageOptions.small
        options.sync = .interval(milliseconds: 5)
        let store = try RocksDBStore(directory: path, options: options)
        for byte in UInt8(0)..<100 { try store.put([[byte]]) }
        store.close()
        let again = try open()
        #expect(try again.keys(.customers).count == 100)
    }

    @Test func `logs and tables stay bounded while much is written`() throws {
        var options = StorageOptions.small
        options.logByteCountMax = 2 << 20
        let store = try RocksDBStore(directory: path, options: options)
        var random = SplitMix(state: 1)
        for round in UInt8(0)..<40 {
            let value = (0..<(512 << 10)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            try store.put([[round % 4]], value: value, in: .payloads)
        }
        let logs = try Files.names(in: path + "/store").filter { $0.hasSuffix(".log") }
        let byteCount = logs.reduce(0) {
            $0 + DiskFault.status(of: "\(path)/store/\($1)").byteCount
        }
        #expect(byteCount < 8 << 20, "20 MiB were written")
    }
}
