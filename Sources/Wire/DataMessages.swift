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
