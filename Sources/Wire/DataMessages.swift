extension Message {
    /// Begin a backup, or tell how one goes on.
    package struct CreateBackupRequest: Hashable, Sendable {
        /// A name, an absolute path on the server, or empty: the server makes a name of the time.
        package var name = Text()
        /// Begin nothing.
        package var followUp = false

        /// A backup under a name of the server's; set the fields.
        package init() {}
    }

    /// How far a backup has come.
    package struct CreateBackupResponse: Hashable, Sendable {
        /// Its name.
        package var name = Text()
        /// Where it is, on the server.
        package var path = Text()
        /// Before that it is none.
        package var complete = false
        /// The last revision in it; 0 = not known yet.
        package var revision: UInt64 = 0
        /// How many files it has.
        package var files: UInt64 = 0
        /// Their bytes.
        package var bytes: UInt64 = 0
        /// How many of these were read back and hashed.
        package var bytesDone: UInt64 = 0
        /// When it was begun, milliseconds since 1970.
        package var createdAtMilliseconds: Int64 = 0
        /// Since then, or what it took.
        package var durationMilliseconds: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// Take in what another server of this kind exported.
    package struct ImportTransactionsRequest: Hashable, Sendable {
        /// Which app and environment; nil = the only app in Production.
        package var scope: Scope?
        /// In any order; at most 1,000.
        package var rows: [ImportedTransaction] = []
        /// Only tell what would change.
        package var dryRun = false

        /// Nothing; set the fields.
        package init() {}
    }

    /// One transaction with what stands beside it; the fields are those of `TransactionRecord`.
    package struct ImportedTransaction: Hashable, Sendable {
        /// Whose it is.
        package var customer: CustomerRef?
        /// Compact JWS.
        package var signedTransaction = Text()
        /// Compact JWS; empty = none, or with another row of the chain.
        package var signedRenewal = Text()
        /// 0 = none.
        package var datelessRevokeMilliseconds: Int64 = 0
        /// 0 = none.
        package var grantNotificationMilliseconds: Int64 = 0
        /// 0 = none.
        package var activeStatusMilliseconds: Int64 = 0
        /// 0 = none.
        package var datedCopyMilliseconds: Int64 = 0
        /// Whether its chain was linked to the customer in so many words.
        package var chainLinked = false

        /// Nothing; set the fields.
        package init() {}
    }

    /// What became of an import.
    package struct ImportTransactionsResponse: Hashable, Sendable {
        /// Rows that went wrong; all others were taken in.
        package var problems: [ImportProblem] = []
        /// How many transactions and renewal infos said something new.
        package var learnt: UInt32 = 0
        /// Answers that flipped, or would flip, or have another reason.
        package var changes: [Change] = []
        /// The revision that contains it.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// A row that went wrong.
    package struct ImportProblem: Hashable, Sendable {
        /// In the request, from 0.
        package var position: UInt32 = 0
        /// As that of a response.
        package var status = Status(rawValue: 0)
        /// UPPER_SNAKE, for machines.
        package var reason = Text()
        /// For people.
        package var message = Text()
        /// Whether the row was taken in all the same.
        package var takenIn = false

        /// Nothing; set the fields.
        package init() {}
    }

    /// One of Apple's names that was linked to a customer in so many words.
    package struct CustomerLink: Hashable, Sendable {
        /// The name.
        package var identity: CustomerRef?
        /// The revision that moved it to him from whosever it was; 0 = it was only said.
        package var movedAtRevision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }

    /// Forget a customer, or tell how it goes on.
    package struct ForgetCustomerRequest: Hashable, Sendable {
        /// Whom; nil with a number.
        package var customer: CustomerRef?
        /// The app and environment.
        package var scope: Scope?
        /// Change nothing.
        package var dryRun = false
        /// Forget nobody: of whom to tell. 0 = none.
        package var followUpNumber: UInt64 = 0

        /// About nobody; set the fields.
        package init() {}
    }

    /// What went with a customer, or would go, and what stays.
    package struct ForgetCustomerResponse: Hashable, Sendable {
        /// The server's own number of him.
        package var customerNumber: UInt64 = 0
        /// What would go, as kind:name; of a dry run only.
        package var names: [Text] = []
        /// How many names went.
        package var namesTotal: UInt64 = 0
        /// How many transactions stay, without names.
        package var transactions: UInt64 = 0
        /// How many signed payloads went.
        package var payloads: UInt64 = 0
        /// How many entries of the store's audit named him.
        package var auditEntries: UInt64 = 0
        /// He stays in a household, as a number.
        package var inHousehold = false
        /// A fetch from Apple was dropped.
        package var wasQueued = false
        /// The bytes have left the data directory.
        package var erased = false
        /// The revision that forgot him.
        package var revision: UInt64 = 0

        /// Nothing; set the fields.
        package init() {}
    }
}
