internal import AppStore

/// The root certificates that everything Apple signed must lead to.
enum TrustedRoots {
    /// The largest certificate file that is read; Apple's has 583 bytes.
    static let byteCountMax = 64 << 10

    /// Reads the configured roots and compares each with Apple's published fingerprint.
    ///
    /// - Throws: what is wrong with any of them.
    static func load(
        _ configuration: Configuration,
        readFile: (_ path: String, _ byteCountMax: Int) throws(FileReadError) -> [UInt8]
    ) throws(ConfigurationFailure) -> [TrustedRoot] {
        var roots: [TrustedRoot] = []
        var problems: [ConfigurationProblem] = []
        for path in configuration.rootPaths {
            do throws(ConfigurationProblem) {
                roots.append(
                    try load(
                        path, allowsTestRoot: configuration.allowsTestRoot, readFile: readFile))
            } catch {
                problems.append(error)
            }
        }
        guard problems.isEmpty else { throw ConfigurationFailure(problems: problems) }
        return roots
    }

    private static func load(
        _ path: String, allowsTestRoot: Bool,
        readFile: (_ path: String, _ byteCountMax: Int) throws(FileReadError) -> [UInt8]
    ) throws(ConfigurationProblem) -> TrustedRoot {
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(path, byteCountMax)
        } catch {
            throw ConfigurationProblem("the root certificate `\(path)`: \(error.text)")
        }
        guard bytes.count <= byteCountMax, let root = try? TrustedRoot(file: bytes) else {
            throw ConfigurationProblem(
                "the root certificate `\(path)` is no certificate in PEM or DER")
        }
        guard allowsTestRoot || root.isApple else {
            throw ConfigurationProblem(
                "the root certificate `\(path)` is not Apple Root CA - G3: its SHA-256 is "
                    + "\(root.fingerprint), Apple's is \(TrustedRoot.appleFingerprint); a test CA "
                    + "needs --allow-test-root, or `apple.allowTestRoot`")
        }
        return root
    }
}
