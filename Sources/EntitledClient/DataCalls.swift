internal import Wire

/// How far a backup on the server's disk has come.
public struct BackupProgress: Hashable, Sendable {
    /// Its name, by which to ask again.
    public var name: String
    /// Where it is, on the server.
    public var path: String
    /// Whether it is whole; before that it is none.
    public var isComplete: Bool
    /// The last revision in it; 0 = not known yet.
    public var revision: UInt64
    /// How many files it has.
    public var fileCount: UInt64
    /// Their bytes.
    public var byteCount: UInt64
    /// How many of them were read back and hashed.
    public var doneByteCount: UInt64
    /// When it was begun, milliseconds since 1970.
    public var createdAtMilliseconds: Int64
    /// Since then, or what it took.
    public var durationMilliseconds: UInt64
}

extension Client {
    /// Begins a backup on the server's own disk; returns at once.
    ///
    /// - Parameters:
    ///   - name: A name, or an absolute path in the server's `backup.dir`; empty: the server makes
    ///     one of the time.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: Under which name to ask how it goes on.
    /// - Throws: `ClientError`; `.refused` with BACKUP_NOT_CONFIGURED, BACKUP_RUNNING or
    ///   INVALID_FIELD.
    public func createBackup(
        name: String = "", timeout: Duration? = nil
    ) async throws(ClientError) -> BackupProgress {
        try await backup(name, isFollowUp: false, timeout)
    }

    /// How a backup goes on that was asked for since the server started.
    ///
    /// - Parameters:
    ///   - name: As in the answer of `createBackup`.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: How far it is.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_BACKUP, and, where it failed, with
    ///   BACKUP_EXISTS, BACKUP_RUNNING, BACKUP_FAILED or STORE_UNAVAILABLE.
    public func backupProgress(
        of name: String, timeout: Duration? = nil
    ) async throws(ClientError) -> BackupProgress {
        try await backup(name, isFollowUp: true, timeout)
    }

    private func backup(
        _ name: String, isFollowUp: Bool, _ timeout: Duration?
    ) async throws(ClientError) -> BackupProgress {
        var request = Message.CreateBackupRequest()
        request.name = Text(name)
        request.followUp = isFollowUp
        let result = try await perform(
            .createBackup(request), timeout: timeout, isRepeatable: isFollowUp)
        guard case .createBackup(let response) = result else { throw .unasked }
        return BackupProgress(response)
    }
}

extension BackupProgress {
    init(_ message: Message.CreateBackupResponse) {
        name = message.name.description
        path = message.path.description
        isComplete = message.complete
        revision = message.revision
        fileCount = message.files
        byteCount = message.bytes
        doneByteCount = message.bytesDone
        createdAtMilliseconds = message.createdAtMilliseconds
        durationMilliseconds = message.durationMilliseconds
    }
}

// MARK: - Privacy requests

/// What went with a customer who was forgotten, or would go, and what stays.
public struct ForgottenCustomer: Hashable, Sendable {
    /// The server's own number of him: all that is left of who he was.
    public var number: UInt64
    /// What would go, as `kind:name`; of a dry run only.
    public var names: [String]
    /// How many names went.
    public var nameCount: UInt64
    /// How many transactions stay, without names.
    public var transactionCount: UInt64
    /// How many signed payloads went, notifications included.
    public var payloadCount: UInt64
    /// How many entries of the store's audit named him.
    public var auditEntryCount: UInt64
    /// Whether others share his household: he stays in it, as a number.
    public var isInHousehold: Bool
    /// Whether a fetch from Apple was dropped.
    public var wasQueued: Bool
    /// Whether the bytes of all that have left the server's data directory.
    public var isErased: Bool
    /// The revision that forgot him.
    public var revision: UInt64
}

extension Client {
    /// Forgets a customer: his names and what Apple signed of him go, what counts stays.
    ///
    /// When this returns, nobody finds him by a name, and a crash brings none back; his bytes leave
    /// the disk a little later, which `forgottenCustomer` tells.
    ///
    /// - Parameters:
    ///   - customer: Whom.
    ///   - isDryRun: Only say what would go.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: What went, or would go.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_CUSTOMER.
    public func forgetCustomer(
        _ customer: CustomerReference, isDryRun: Bool = false, scope: Scope? = nil,
        timeout: Duration? = nil
    ) async throws(ClientError) -> ForgottenCustomer {
        var request = Message.ForgetCustomerRequest()
        request.customer = Message.CustomerRef(customer)
        request.dryRun = isDryRun
        return try await forget(request, in: scope, timeout)
    }

    /// How far it is with a customer who was forgotten.
    ///
    /// - Parameters:
    ///   - number: As in the answer of `forgetCustomer`.
    ///   - scope: Which app and environment; nil = that of the configuration.
    ///   - timeout: How long to wait; nil = that of the configuration.
    /// - Returns: Whether his bytes have left the disk; what went is not told again.
    /// - Throws: `ClientError`; `.refused` with UNKNOWN_CUSTOMER.
    public func forgottenCustomer(
        number: UInt64, scope: Scope? = nil, timeout: Duration? = nil
    ) async throws(ClientError) -> ForgottenCustomer {
        var request = Message.ForgetCustomerRequest()
        request.followUpNumber = number
        return try await forget(request, in: scope, timeout)
    }

    private func forget(
        _ request: Message.ForgetCustomerRequest, in scope: Scope?, _ timeout: Duration?
    ) async throws(ClientError) -> ForgottenCustomer {
        var request = request
        request.scope = (scope ?? configuration.scope).map { Message.Scope($0) }
        let result = try await perform(
            .forgetCustomer(request), timeout: timeout,
            isRepeatable: request.dryRun || request.followUpNumber != 0)
        guard case .forgetCustomer(let response) = result else { throw .unasked }
        return ForgottenCustomer(response)
    }
}

extension ForgottenCustomer {
    init(_ message: Message.ForgetCustomerResponse) {
        number = message.customerNumber
        names = message.names.map(\.description)
        nameCount = message.namesTotal
        transactionCount = message.transactions
        payloadCount = message.payloads
        auditEntryCount = message.auditEntries
        isInHousehold = message.inHousehold
        wasQueued = message.wasQueued
        isErased = message.erased
        revision = message.revision
    }
}
