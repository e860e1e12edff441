/// The exit codes of the server, after BSD's sysexits.h.
enum ExitCode: Int32, Equatable, Sendable {
    /// A clean stop, and answers such as `--help`.
    case success = 0
    /// Failed while running.
    case failure = 1
    /// The command line is wrong.
    case usage = 64
    /// The stored data are damaged, or written by a newer release.
    case damagedData = 65
    /// A bug in this program.
    case bug = 70
    /// The operating system refused: an address in use, no thread to be had.
    case operatingSystem = 71
    /// The data directory is locked by another process or cannot be created.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// No permission.
    case permission = 77
    /// The configuration is wrong.
    case configuration = 78
}
