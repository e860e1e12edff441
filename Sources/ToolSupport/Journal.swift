internal import Glibc

/// A file that grows line by line: what is about to be done stands in it before it is done.
///
/// Each line is one write(2), so that it is in the system's hands when `add` returns, whatever
/// happens to this process. Any thread.
package final class Journal: Sendable {
    private let descriptor: Int32

    /// Makes the file, or goes on at its end.
    ///
    /// - Throws: `CommandFailure` naming it.
    package init(_ path: String) throws(CommandFailure) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure(.failed, "\(path): it cannot be made") }
    }

    deinit { close(descriptor) }

    /// Adds a line.
    package func add(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        // What is expected must not be forgotten: without it no loss would be found.
        precondition(count == bytes.count, "the journal cannot be written")
    }
}
