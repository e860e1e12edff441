internal import HTTP

/// Shows another certificate on the HTTP listener when its files hold one, as `TLSReload` does on
/// those of the protocol.
final class HTTPReload {
    private let door: HTTPDoor
    private let readFile: NamedFile.Reading
    /// Where the files are; another reading of the configuration may have changed it.
    private var files: HTTPSettings.TLSFiles
    /// What is shown now.
    private var identity: HTTPServerIdentity

    init(
        _ files: HTTPSettings.TLSFiles, showing identity: HTTPServerIdentity, door: HTTPDoor,
        readFile: @escaping NamedFile.Reading
    ) {
        self.files = files
        self.identity = identity
        self.door = door
        self.readFile = readFile
    }

    /// The files to watch.
    var paths: [String] { [files.certificatePath, files.keyPath] }

    /// Reads the files.
    ///
    /// - Throws: why they cannot be used; what was there before goes on to apply.
    func run() throws(ConfigurationFailure) { try show(try files.load(by: readFile), of: files) }

    /// Shows a certificate that was read. The same one again is no work.
    ///
    /// - Throws: why it cannot be used; what was there before goes on to apply.
    func show(
        _ new: HTTPServerIdentity, of files: HTTPSettings.TLSFiles
    ) throws(ConfigurationFailure) {
        if new != identity {
            do throws(HTTPListenerError) {
                try door.show(new)
            } catch {
                throw ConfigurationFailure(problems: [ConfigurationProblem(error.description)])
            }
        }
        identity = new
        self.files = files
    }
}
