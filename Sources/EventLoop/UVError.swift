internal import CLibuv

/// What the operating system or libuv refused: what was attempted, on what, and the answer.
package struct UVError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The negative number by which libuv names the error (`-errno` on Unix).
    package let code: Int32
    /// What was attempted, e.g. "bind" or "read".
    package let operation: String
    /// On what, e.g. "127.0.0.1:7420"; empty when it is the connection at hand.
    package let subject: String

    /// - Parameters:
    ///   - code: The negative number of libuv.
    ///   - operation: What was attempted.
    ///   - subject: On what.
    package init(code: Int32, operation: String, subject: String = "") {
        self.code = code
        self.operation = operation
        self.subject = subject
    }

    /// The symbol, e.g. "EADDRINUSE".
    package var name: String {
        guard let text = unsafe uv_err_name(code) else { return "UNKNOWN" }
        return unsafe String(cString: text)
    }

    /// The sentence of libuv, e.g. "address already in use".
    package var message: String {
        guard let text = unsafe uv_strerror(code) else { return "unknown error" }
        return unsafe String(cString: text)
    }

    /// For people: "bind 127.0.0.1:7420: address already in use (EADDRINUSE)".
    package var description: String {
        let target = subject.isEmpty ? operation : "\(operation) \(subject)"
        return "\(target): \(message) (\(name))"
    }

    /// Somebody else has that address.
    package var isAddressInUse: Bool { code == UV_EADDRINUSE.rawValue }
    /// The peer went away without a word: reset, broken pipe or aborted.
    package var isPeerGone: Bool {
        code == UV_ECONNRESET.rawValue || code == UV_EPIPE.rawValue
            || code == UV_ECONNABORTED.rawValue
    }
    /// Nobody listens there.
    package var isRefused: Bool { code == UV_ECONNREFUSED.rawValue || code == UV_ENOENT.rawValue }
    /// The permission is missing.
    package var isPermission: Bool { code == UV_EACCES.rawValue || code == UV_EPERM.rawValue }

    /// Turns libuv's convention (negative = error) into a typed throw.
    @discardableResult
    static func check(
        _ result: Int32, _ operation: String, _ subject: String = ""
    ) throws(UVError) -> Int32 {
        guard result < 0 else { return result }
        throw UVError(code: result, operation: operation, subject: subject)
    }
}
