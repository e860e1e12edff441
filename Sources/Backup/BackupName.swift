/// The name of a backup: one directory below the directory of all backups.
package struct BackupName: Hashable, Sendable {
    /// The longest name in bytes; a file system takes 255.
    package static let byteCountMax = 64

    /// Letters, digits, `.`, `-` and `_`; the first is a letter or a digit.
    package let text: String

    /// The name that `text` is.
    ///
    /// - Parameters:
    ///   - text: A name, or an absolute path whose rest is `root`.
    ///   - root: The directory of all backups.
    /// - Throws: `BackupError.invalidName`, for whatever would lead anywhere else too.
    package init(_ text: String, in root: String) throws(BackupError) {
        var name = text[...]
        if text.utf8.first == UInt8(ascii: "/") {
            let prefix = Self.trimmed(root) + "/"
            guard text.hasPrefix(prefix), !text.dropFirst(prefix.count).isEmpty else {
                throw .invalidName(
                    message: "`\(text)` does not lie in the configured backup.dir, \(root)")
            }
            name = Self.trimmed(String(text.dropFirst(prefix.count)))[...]
        }
        guard Self.isName(name) else {
            throw .invalidName(
                message: "`\(text)` is no name of a backup: 1 to \(Self.byteCountMax) letters, "
                    + "digits, `.`, `-` and `_`, the first a letter or a digit")
        }
        self.text = String(name)
    }

    /// The name of a backup that begins at an instant, `20260308T100005Z`.
    ///
    /// - Parameter time: RFC 3339 in UTC.
    package init(time: String) {
        text =
            String(time.prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" && $0 != "Z" }) + "Z"
    }

    /// Whether text is a name that `init` takes.
    static func isName(_ text: Substring) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= byteCountMax, isAlphanumeric(first) else {
            return false
        }
        return bytes.allSatisfy {
            isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: "_")
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
        return String(path)
    }
}
