internal import AppStore
package import Entitlements
internal import OpenSSL
internal import RocksDB
internal import Storage

/// What a backup is made of. Written last: a directory without it is no backup.
///
/// The file is JSON for people and programs, and ends with the SHA-256 of all that stands before
/// the line of its own:
///
///     {
///       "format": 1,
///       ...
///       "files": [
///         {"path": "FORMAT", "size": 23, "sha256": "..."},
///         ...
///       ],
///       "checksum": "..."
///     }
package struct BackupManifest: Hashable, Sendable {
    /// One file.
    package struct File: Hashable, Sendable {
        /// `FORMAT`, or `store/` and a name.
        package var path: String
        /// Bytes.
        package var size: UInt64
        /// 64 lower-case hexadecimal digits.
        package var sha256: String
    }

    /// The layout that this release writes; a newer one is refused.
    static let formatVersion: UInt64 = 1
    /// Its name in a backup.
    package static let fileName = "MANIFEST.json"
    /// The name of the file with the format of the data.
    static let formatFile = "FORMAT"
    /// The directory of the database in a backup, as in a data directory.
    static let storeDirectory = "store"
    /// 1 million files of 64 MiB have one of 150 MB; ours have hundreds.
    private static let byteCountMax = 256 << 20

    /// Of the data; see `storageFormatVersion`.
    package var storageFormat: UInt64
    /// The release that made it.
    package var version: String
    /// The last revision in it.
    package var revision: UInt64
    /// When it was begun.
    package var createdAt: Timestamp
    /// The same as RFC 3339.
    package var createdText: String
    /// How long it took until this was written, in ms.
    package var durationMilliseconds: UInt64
    /// In ascending order of their paths.
    package var files: [File]

    /// The bytes of all files.
    package var byteCount: UInt64 { files.reduce(0) { $0 + $1.size } }

    /// The text of the file.
    var text: [UInt8] {
        var head = """
            {
              "format": \(Self.formatVersion),
              "storageFormat": \(storageFormat),
              "version": "\(version)",
              "revision": \(revision),
              "created": "\(createdText)",
              "createdMilliseconds": \(createdAt.milliseconds),
              "durationMilliseconds": \(durationMilliseconds),
              "bytes": \(byteCount),
              "files": [

            """
        head += files.map { file in
            "    {\"path\": \"\(file.path)\", \"size\": \(file.size), "
                + "\"sha256\": \"\(file.sha256)\"}"
        }.joined(separator: ",\n")
        head += "\n  ],\n"
        return Self.text(withChecksum: Array(head.utf8))
    }

    /// All that stands before the last line, with that line.
    static func text(withChecksum head: [UInt8]) -> [UInt8] {
        head + Array(checksumLine(of: head).utf8)
    }

    private static func checksumLine(of head: [UInt8]) -> String {
        "  \"checksum\": \"\(SHA256Digest(of: head.span))\"\n}\n"
    }
}

// MARK: - Reading

extension BackupManifest {
    /// Reads the manifest of the backup in `directory`.
    ///
    /// - Throws: `.noBackup` without one, `.damaged`, `.newerFormat`, `.file`.
    package init(of directory: String) throws(BackupError) {
        let path = directory + "/" + Self.fileName
        let exists = try onFiles { () throws(FileError) in try Files.entry(at: path) != nil }
        guard exists else {
            throw .noBackup(path: directory, message: "it has no \(Self.fileName)")
        }
        let text = try onFiles { () throws(FileError) in
            var reading = try FileReading(path)
            return try reading.next(byteCountMax: Self.byteCountMax)
        }
        try self.init(text, directory)
    }

    /// Reads the text of a manifest.
    ///
    /// - Throws: `.damaged`, `.newerFormat`.
    init(_ text: [UInt8], _ directory: String) throws(BackupError) {
        func damaged(_ expected: String, _ found: String) -> BackupError {
            .damaged([BackupFinding(file: Self.fileName, expected: expected, found: found)])
        }
        let lineByteCount = Self.checksumLine(of: []).utf8.count
        let head = Array(text.dropLast(min(text.count, lineByteCount)))
        let line = Self.checksumLine(of: head)
        guard text.suffix(lineByteCount).elementsEqual(line.utf8) else {
            throw damaged(
                "its checksum, \(SHA256Digest(of: head.span))", "another last line")
        }
        guard let object = try? JSONObject(text), let format = object.integer("format") else {
            throw damaged("a JSON object with a format", "something else")
        }
        guard format == Int64(Self.formatVersion) else {
            throw .newerFormat(
                path: directory, found: UInt64(clamping: format), supported: Self.formatVersion)
        }
        guard let manifest = Self(object) else {
            throw damaged("every member, and files below `store`", "a missing or strange one")
        }
        self = manifest
    }

    private init?(_ object: JSONObject) {
        guard let storageFormat = object.integer("storageFormat"),
            let version = object.string("version"), let revision = object.integer("revision"),
            let created = object.integer("createdMilliseconds"),
            let createdText = object.string("created"),
            let duration = object.integer("durationMilliseconds"),
            let files = object.array("files"), storageFormat > 0, revision >= 0, duration >= 0
        else { return nil }
        self.storageFormat = UInt64(storageFormat)
        self.version = version
        self.revision = UInt64(revision)
        createdAt = Timestamp(milliseconds: created)
        self.createdText = createdText
        durationMilliseconds = UInt64(duration)
        self.files = []
        for value in files {
            guard let file = object.object(value), let path = file.string("path"),
                let size = file.integer("size"), size >= 0,
                let sha256 = file.string("sha256"), Self.isInside(path)
            else { return nil }
            self.files.append(File(path: path, size: UInt64(size), sha256: sha256))
        }
        guard self.files.contains(where: { $0.path == Self.formatFile }) else { return nil }
    }

    /// Whether a path is one that a backup may have: nothing leads out of it.
    private static func isInside(_ path: String) -> Bool {
        if path == formatFile { return true }
        let prefix = storeDirectory + "/"
        return path.hasPrefix(prefix) && BackupName.isName(path.dropFirst(prefix.count))
    }
}
