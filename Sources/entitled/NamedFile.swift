internal import AppStoreServerAPI

/// A file that the configuration names, read whole when the configuration is.
enum NamedFile {
    /// Private keys and chains of certificates have a few kilobytes.
    static let byteCountMax = 256 << 10

    typealias Reading = (_ path: String, _ byteCountMax: Int) throws(FileReadError) -> [UInt8]

    /// The content of the file at `path`, which holds `what`.
    ///
    /// - Throws: why it cannot be used; never what is in it.
    static func read(
        _ what: String, at path: String, by readFile: Reading
    ) throws(ConfigurationFailure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(path, byteCountMax)
        } catch {
            throw failure(what, path, error.text)
        }
        guard bytes.count <= byteCountMax else { throw failure(what, path, "the file is too long") }
        guard !bytes.isEmpty else { throw failure(what, path, "the file is empty") }
        return bytes
    }

    /// The App Store Server API's key, with what it is known by.
    ///
    /// - Throws: why it cannot be used; never what is in it.
    static func appStoreKey(
        _ settings: AppStoreAPISettings, by readFile: Reading
    ) throws(ConfigurationFailure) -> APIKey {
        let what = "the App Store Server API's key"
        let bytes = try read(what, at: settings.keyPath, by: readFile)
        do throws(APIKeyError) {
            return try APIKey(issuerID: settings.issuerID, keyID: settings.keyID, file: bytes)
        } catch {
            throw failure(what, settings.keyPath, error.description)
        }
    }

    /// One or more certificates, or a private key, in PEM; looked at no closer.
    ///
    /// - Throws: why it cannot be used; never what is in it.
    static func pem(
        _ what: String, at path: String, by readFile: Reading
    ) throws(ConfigurationFailure) -> [UInt8] {
        let bytes = try read(what, at: path, by: readFile)
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN ") else {
            throw failure(what, path, "this is not PEM")
        }
        return bytes
    }

    private static func failure(
        _ what: String, _ path: String, _ message: String
    ) -> ConfigurationFailure {
        ConfigurationFailure(problems: [
            ConfigurationProblem("\(what) in `\(path)`: \(message)")
        ])
    }
}
