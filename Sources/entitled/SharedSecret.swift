/// The app's shared secret, which version 1 notifications carry as their password.
enum SharedSecret {
    /// App Store Connect makes secrets of 32 characters.
    static let byteCountMax = 4_096

    /// Reads the file of the secret; `nil` when none is configured. Line feeds at the end are an
    /// editor's, not the secret's.
    ///
    /// - Throws: why there is no secret in the file; never what is in it.
    static func load(
        _ configuration: Configuration,
        readFile: (_ path: String, _ byteCountMax: Int) throws(FileReadError) -> [UInt8]
    ) throws(ConfigurationFailure) -> [UInt8]? {
        guard let path = configuration.v1SharedSecretPath else { return nil }
        func failure(_ message: String) -> ConfigurationFailure {
            ConfigurationFailure(problems: [
                ConfigurationProblem("the shared secret in `\(path)`: \(message)")
            ])
        }
        var bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(path, byteCountMax)
        } catch {
            throw failure(error.text)
        }
        guard bytes.count <= byteCountMax else { throw failure("the file is too long") }
        while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty else { throw failure("the file is empty") }
        return bytes
    }
}
