internal import COpenSSL

/// A call into OpenSSL failed: what was attempted and what the library had to say about it.
package struct OpenSSLError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was attempted, for people: "parse a certificate".
    package let attempt: String
    /// The library's reasons, oldest first; empty where it gave none.
    package let reasons: [String]

    /// An error that a caller found out for itself.
    package init(attempt: String, reasons: [String]) {
        self.attempt = attempt
        self.reasons = reasons
    }

    /// Attempt and reasons in one line.
    package var description: String {
        reasons.isEmpty
            ? "cannot \(attempt)" : "cannot \(attempt): \(reasons.joined(separator: "; "))"
    }

    /// Takes every entry from this thread's error queue: what stays in it would be blamed on the
    /// next call.
    ///
    /// - Parameter attempt: What was attempted.
    /// - Returns: The error with all reasons found.
    static func drained(_ attempt: String) -> OpenSSLError {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            guard let text = unsafe ERR_reason_error_string(code) else {
                reasons.append("error \(code)")
                continue
            }
            reasons.append(unsafe String(cString: text))
        }
        return OpenSSLError(attempt: attempt, reasons: reasons)
    }

    /// The pointer that a constructor of the library returned.
    ///
    /// - Parameters:
    ///   - pointer: What came back; nil is failure.
    ///   - attempt: What was attempted.
    /// - Returns: The pointer.
    /// - Throws: ``OpenSSLError`` with the drained queue.
    static func unwrap(
        _ pointer: OpaquePointer?, _ attempt: String
    ) throws(OpenSSLError) -> OpaquePointer {
        guard let pointer = unsafe pointer else { throw drained(attempt) }
        return unsafe pointer
    }

    /// Checks the result of a function that returns 1 for success.
    ///
    /// - Parameters:
    ///   - result: What came back.
    ///   - attempt: What was attempted.
    /// - Throws: ``OpenSSLError`` with the drained queue for everything but 1.
    static func check(_ result: Int32, _ attempt: String) throws(OpenSSLError) {
        guard result == 1 else { throw drained(attempt) }
    }
}
