internal import EventLoop
internal import HTTP
internal import Service
internal import Storage

/// Why the server could not start, in words for the operator and as an exit code.
struct StartFailure: Error, Equatable, Sendable {
    let exitCode: ExitCode
    /// What failed and what to do about it.
    let message: String

    init(_ exitCode: ExitCode, _ message: String) {
        self.exitCode = exitCode
        self.message = message
    }

    /// The store could not be opened.
    init(_ error: StorageError) {
        switch error {
        case .cannotOpen(let directory, let message):
            self.init(.cannotCreate, "the data directory `\(directory)` cannot be used: \(message)")
        case .locked(let directory, let message):
            self.init(.cannotCreate, "the data directory `\(directory)` is in use: \(message)")
        case .noPermission(let directory, let message):
            self.init(
                .permission,
                "this process may not use the data directory `\(directory)`: \(message)")
        case .newerFormat(let directory, let found, let supported):
            self.init(
                .damagedData,
                "the data in `\(directory)` have format \(found), written by a newer release; this "
                    + "one reads up to \(supported)")
        case .foreignDirectory(let directory, let message):
            self.init(
                .cannotCreate,
                "`\(directory)` holds something that is no store of entitled: \(message)")
        case .damaged(let message):
            self.init(.damagedData, "the stored data are damaged: \(message)")
        case .corruptRecord(let keyspace, let message):
            self.init(
                .damagedData, "a stored record is damaged (\(keyspace.rawValue)): \(message)")
        case .unavailable(let message):
            self.init(.inputOutput, "the store cannot be used: \(message)")
        }
    }

    /// The service could not start on the opened store.
    init(_ error: ServiceStartError) {
        switch error {
        case .storage(.unavailable(let message)):
            // A disk that is full or fails is no damage: what starts again when there is space must
            // not be told to restore a backup.
            self.init(.inputOutput, "the store cannot be used: \(message)")
        case .storage(let error):
            self.init(.damagedData, "the stored data cannot be read: \(error)")
        case .configuration(let message): self.init(.configuration, message)
        }
    }

    /// The HTTP listener could not be opened.
    init(_ error: HTTPListenerError) {
        switch error {
        case .cannotStart(_, hasIdentity: true), .notLiteral:
            self.init(.configuration, error.description)
        case .cannotListen, .cannotStart: self.init(.operatingSystem, error.description)
        }
    }

    /// The operating system refused a listener, a thread or a descriptor.
    init(_ error: UVError) {
        self.init(error.isPermission ? .permission : .operatingSystem, error.description)
    }
}
