internal import EntitledClient
internal import ToolSupport

extension CommandFailure {
    /// A signal came.
    static let interrupted = CommandFailure(.interrupted, "the drill was interrupted")

    /// What a failed call means for the exit code.
    init(_ error: ClientError, address: String) {
        switch error {
        case .refused(let refusal):
            self.init(
                ExitStatus(refusal.status), "the server refused: \(refusal.description)",
                hint: Self.hint(refusal))
        case .deadlineExceeded:
            self.init(
                .unavailable, "\(address): no answer came in time",
                hint: "give it longer with --timeout, or ask `entitlectl health`")
        case .connectionFailed(let message):
            self.init(
                .unavailable, "the server cannot be reached: \(message)",
                hint: "is it running? name its address with --addr or ENTITLECTL_ADDR")
        case .connectionLost:
            self.init(.unavailable, "\(address): the connection ended before the answer came")
        case .invalidAddress(let message): self.init(.usage, "--addr: \(message)")
        case .invalidCredentials(let message): self.init(.configuration, message)
        case .requestTooLarge, .protocolViolation, .cancelled, .closed:
            self.init(.failed, error.description)
        }
    }

    private static func hint(_ refusal: Refusal) -> String {
        switch refusal.reason {
        case "UNKNOWN_SCOPE":
            "`entitlectl health` lists the apps and environments; name one with --bundle-id and"
                + " --environment"
        case "IDENTITY_CONFLICT":
            "--transfer moves it from the other customer, if that is what you want"
        case "UNKNOWN_CALL":
            "the server is older than this tool and does not know this call: upgrade it;"
                + " `entitlectl health` names its release"
        case "BACKUP_NOT_CONFIGURED": "give the server backup.dir, and restart it"
        case "UNKNOWN_CUSTOMER": "an app of Sandbox needs --environment sandbox"
        case "APP_STORE_NOT_CONFIGURED":
            "give the server apple.api.issuerId, keyId and keyFile; `rebuild --source stored` needs"
                + " no Apple"
        case "APP_STORE_UNAUTHORIZED":
            "Apple does not take the server's key: is it revoked, of another team, or is the clock"
                + " of the server wrong?"
        case "KEY_MISSING": "name a file with your API key with --key-file or ENTITLECTL_KEY_FILE"
        case "KEY_UNKNOWN", "KEY_EXPIRED", "KEY_REVOKED":
            "`entitlectl key list` on the server's machine shows the keys; `entitlectl key create`"
                + " makes one"
        case "APP_NOT_ALLOWED": "name an app of this key with --bundle-id and --environment"
        case _ where refusal.retryAfterMilliseconds > 0:
            "try again in \(refusal.retryAfterMilliseconds) ms"
        default: ""
        }
    }
}

extension ExitStatus {
    /// The exit code that goes with a refusal.
    init(_ status: StatusCode) {
        switch status {
        case .notFound: self = .notFound
        case .unauthenticated, .permissionDenied: self = .unauthenticated
        case .unavailable, .deadlineExceeded, .resourceExhausted: self = .unavailable
        case .failedPrecondition, .alreadyExists, .aborted: self = .conflict
        default: self = .failed
        }
    }
}
