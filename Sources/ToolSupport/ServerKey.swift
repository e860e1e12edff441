/// The API key that a tool shows to a server: one line of a file, so that it stands in no list of
/// processes.
package enum ServerKey {
    /// Reads the key of the file that a flag or a variable names; empty where neither does.
    ///
    /// - Throws: `CommandFailure` when the file cannot be read, or holds no key. Never with what is
    ///   in it.
    package static func read(
        _ flag: String?, _ variable: String?
    ) throws(CommandFailure) -> String {
        guard let path = flag ?? variable, !path.isEmpty else { return "" }
        let bytes = try SystemCalls.readFile(path)
        guard bytes.count <= 1_024, let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.failed, "\(path): this holds no API key")
        }
        let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r" }
        let scalars = text.unicodeScalars.filter { !isSpace($0) }
        guard !scalars.isEmpty, scalars.allSatisfy({ $0.isASCII && $0.value > 0x20 }) else {
            throw CommandFailure(.failed, "\(path): this holds no API key")
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
