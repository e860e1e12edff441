/// The exit codes of the tools; scripts rely on them.
package enum ExitStatus: Int32, Equatable, Sendable {
    /// Done.
    case success = 0
    /// Not done.
    case failed = 1
    /// The command line is wrong.
    case usage = 2
    /// `entitlectl check --exit-code`: no access.
    case denied = 3
    /// There is no such thing.
    case notFound = 4
    /// No key, a wrong one, or one that may not do this.
    case unauthenticated = 5
    /// The server cannot be reached, is busy, or took too long.
    case unavailable = 6
    /// The state of things forbids it, e.g. a purchase that is another customer's.
    case conflict = 7
    /// The data that were looked at are damaged.
    case damaged = 65
    /// An environment variable is wrong.
    case configuration = 78
    /// Ended by Ctrl-C.
    case interrupted = 130
}

/// Why a command ends without its result: what failed, and what to try.
package struct CommandFailure: Error, Equatable, Sendable {
    /// The exit code.
    package let status: ExitStatus
    /// What failed.
    package let message: String
    /// What to try; empty = nothing to say.
    package let hint: String

    /// A failure.
    package init(_ status: ExitStatus, _ message: String, hint: String = "") {
        self.status = status
        self.message = message
        self.hint = hint
    }
}
