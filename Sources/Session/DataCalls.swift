internal import Entitlements
internal import Service
internal import Wire

// What administrators ask of the data as a whole.

extension CallValidation {
    /// The longest path of a backup, in bytes: Linux takes 4,096.
    private static let pathByteCountMax = 4_096

    /// A backup to be begun, or one that was.
    ///
    /// - Throws: `Refusal` with INVALID_FIELD; APP_NOT_ALLOWED for whoever is limited to some apps,
    ///   as a backup holds all of them.
    func backup(_ message: Message.CreateBackupRequest) throws(Refusal) -> BackupRequest {
        if isLimited { throw .appNotAllowed }
        guard message.name.bytes.count <= Self.pathByteCountMax, let name = message.name.string
        else {
            throw Refusal(
                .invalidField, "name is longer than \(Self.pathByteCountMax) bytes, or not UTF-8")
        }
        return BackupRequest(name: name, isFollowUp: message.followUp)
    }

    /// So many rows an import has at most: it takes its turn between other events, as one.
    private static let importedRowCountMax = 1_000

    /// What another server exported.
    ///
    /// - Throws: `Refusal` with INVALID_IDENTIFIER, INVALID_FIELD, UNKNOWN_SCOPE or
    ///   APP_NOT_ALLOWED.
    func importing(
        _ message: Message.ImportTransactionsRequest
    ) throws(Refusal) -> ImportRequest {
        guard message.rows.count <= Self.importedRowCountMax else {
            throw Refusal(.invalidField, "more than \(Self.importedRowCountMax) rows in one call")
        }
        var rows: [ImportRow] = []
        for row in message.rows {
            var evidence = Evidence()
            evidence.datelessRevoke = instant(row.datelessRevokeMilliseconds)
            evidence.grantNotification = instant(row.grantNotificationMilliseconds)
            evidence.activeStatus = instant(row.activeStatusMilliseconds)
            evidence.datedCopy = instant(row.datedCopyMilliseconds)
            rows.append(
                ImportRow(
                    customer: try reference(row.customer, "customer"),
                    signedTransaction: row.signedTransaction.bytes,
                    signedRenewal: row.signedRenewal.bytes, evidence: evidence,
                    isChainLinked: row.chainLinked))
        }
        return ImportRequest(
            scope: try scope(message.scope), rows: rows, isDryRun: message.dryRun)
    }

    /// The wire's 0 is no instant.
    private func instant(_ milliseconds: Int64) -> Timestamp? {
        milliseconds == 0 ? nil : Timestamp(milliseconds: milliseconds)
    }

    /// A customer to be forgotten, or one that was.
    ///
    /// - Throws: `Refusal` with INVALID_IDENTIFIER, INVALID_FIELD, UNKNOWN_SCOPE, APP_NOT_ALLOWED.
    func forget(_ message: Message.ForgetCustomerRequest) throws(Refusal) -> SessionCall {
        let scope = try scope(message.scope)
        guard message.followUpNumber == 0 else {
            guard message.customer == nil, !message.dryRun else {
                throw Refusal(
                    .invalidField, "follow_up_number goes with neither a customer nor dry_run")
            }
            return .read(.forgotten(ForgottenQuery(number: message.followUpNumber, scope: scope)))
        }
        return .write(
            .forget(
                ForgetRequest(
                    customer: try reference(message.customer, "customer"),
                    isDryRun: message.dryRun, scope: scope)))
    }
}

extension ReplyMapping {
    static func backup(_ status: BackupStatus) -> Message.CreateBackupResponse {
        var message = Message.CreateBackupResponse()
        message.name = Text(status.name)
        message.path = Text(status.path)
        message.complete = status.isComplete
        message.revision = status.revision
        message.files = UInt64(status.fileCount)
        message.bytes = status.byteCount
        message.bytesDone = status.doneByteCount
        message.createdAtMilliseconds = status.createdAt.milliseconds
        message.durationMilliseconds = status.durationMilliseconds
        return message
    }

    static func imported(_ reply: ImportReply) -> Message.ImportTransactionsResponse {
        var message = Message.ImportTransactionsResponse()
        message.problems = reply.problems.map(problem)
        message.learnt = UInt32(clamping: reply.learntCount)
        message.changes = reply.changes.map(change)
        message.revision = reply.revision
        return message
    }

    private static func problem(_ problem: ImportProblem) -> Message.ImportProblem {
        var message = Message.ImportProblem()
        message.position = UInt32(clamping: problem.position)
        message.status = .init(rawValue: problem.refusal.status.rawValue)
        message.reason = Text(problem.refusal.reason.rawValue)
        message.message = Text(problem.refusal.message)
        message.takenIn = problem.isTakenIn
        return message
    }

    static func link(_ link: LinkView) -> Message.CustomerLink {
        var message = Message.CustomerLink()
        message.identity = reference(link.identity)
        message.movedAtRevision = link.movedAt
        return message
    }

    static func forgotten(_ reply: ForgetReply) -> Message.ForgetCustomerResponse {
        var message = Message.ForgetCustomerResponse()
        message.customerNumber = reply.number
        message.names = reply.names.map { Text($0) }
        message.namesTotal = UInt64(reply.nameCount)
        message.transactions = UInt64(reply.transactionCount)
        message.payloads = UInt64(reply.payloadCount)
        message.auditEntries = UInt64(reply.auditCount)
        message.inHousehold = reply.isInHousehold
        message.wasQueued = reply.wasQueued
        message.erased = reply.isErased
        message.revision = reply.revision
        return message
    }
}
