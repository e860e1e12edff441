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
}
