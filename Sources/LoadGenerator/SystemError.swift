internal import Glibc

/// Words of the system for its numbers.
enum SystemError {
    /// "connection refused" for ECONNREFUSED; the number where there are no words.
    static func text(_ code: Int32) -> String {
        guard let words = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: words)
    }
}
