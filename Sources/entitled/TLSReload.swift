internal import OpenSSL
internal import Transport

/// Reads the files of TLS again whenever one of them has changed.
///
/// A certificate and its key are two files: whoever renews them writes one after the other, and
/// what is read in between does not fit together. That is told, and what was there before goes on
/// to apply; the change of the second file brings both.
final class TLSReload {
    private let door: TLSDoor
    private let readFile: NamedFile.Reading
    /// Where the files are; another reading of the configuration may have changed it.
    var settings: TLSSettings

    init(_ settings: TLSSettings, door: TLSDoor, readFile: @escaping NamedFile.Reading) {
        self.settings = settings
        self.door = door
        self.readFile = readFile
    }

    /// The files to watch.
    var paths: [String] {
        [settings.certificatePath, settings.keyPath]
            + (settings.clientAuthorityPath.map { [$0] } ?? [])
    }

    /// Reads the files.
    ///
    /// - Throws: why they cannot be used; what was there before goes on to apply.
    func run() throws(ConfigurationFailure) {
        door.replace(with: try settings.load(by: readFile))
    }
}
