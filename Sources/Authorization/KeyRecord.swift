internal import Bytes
package import OpenSSL

/// An app, in one environment or in all of them, that a key is limited to.
package struct KeyApp: Hashable, Sendable {
    /// Exactly as configured.
    package var bundleID: String
    /// The environment's number on the wire: 1 for Production, 2 for Sandbox; nil: both.
    package var environment: Int32?

    /// An app, in one environment or in all.
    package init(bundleID: String, environment: Int32? = nil) {
        self.bundleID = bundleID
        self.environment = environment
    }

    /// `com.example.meadow`, `com.example.meadow:Sandbox`.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard 1...2 ~= parts.count, 1...128 ~= parts[0].utf8.count else { return nil }
        bundleID = String(parts[0])
        guard parts.count == 2 else { return }
        switch parts[1] {
        case "Production": environment = 1
        case "Sandbox": environment = 2
        default: return nil
        }
    }

    /// As in the keys file.
    package var text: String {
        switch environment {
        case nil: bundleID
        case 1: bundleID + ":Production"
        default: bundleID + ":Sandbox"
        }
    }

    /// Whether it is, or holds, a world.
    func covers(_ bundleID: String, _ environment: Int32) -> Bool {
        self.bundleID.utf8.elementsEqual(bundleID.utf8)
            && (self.environment ?? environment) == environment
    }
}

/// What a caller shows to be known by a record.
package enum KeyCredential: Hashable, Sendable {
    /// The SHA-256 of a key's text.
    case key(SHA256Digest)
    /// A name in a client certificate that the transport has verified, such as
    /// `dns:backend.example`.
    case certificate(String)
}

/// One caller as the keys file knows him.
package struct KeyRecord: Hashable, Sendable {
    /// Names the record; stands in a key's text, so that it can be found without trying all.
    package var id: String
    /// For people. Two keys of one name at a time are a rotation.
    package var name: String
    /// What he shows.
    package var credential: KeyCredential
    /// What he may do.
    package var roles: Roles
    /// Where; empty: everywhere.
    package var apps: [KeyApp]
    /// When it was made, in ms since 1970; 0: nobody wrote it down.
    package var created: Int64 = 0
    /// From when on it is not taken any more, in ms since 1970; 0: never.
    package var expires: Int64 = 0
    /// Whether it is not taken any more at all.
    package var isRevoked = false

    /// A record that neither expires nor is revoked.
    package init(
        id: String, name: String, credential: KeyCredential, roles: Roles, apps: [KeyApp] = []
    ) {
        self.id = id
        self.name = name
        self.credential = credential
        self.roles = roles
        self.apps = apps
    }

    /// The record as a line of the keys file, without its line feed.
    package var line: String {
        func list(_ texts: [String]) -> String {
            "[\(texts.map(KeyLine.quoted).joined(separator: ","))]"
        }
        func instant(_ milliseconds: Int64) -> String {
            milliseconds == 0 ? "0" : KeyLine.quoted(KeyInstant.text(milliseconds))
        }
        let proof =
            switch credential {
            case .key(let digest): "\"sha256\":\"\(digest)\""
            case .certificate(let name): "\"certificate\":\(KeyLine.quoted(name))"
            }
        return "{\"id\":\(KeyLine.quoted(id)),\"name\":\(KeyLine.quoted(name)),"
            + "\"roles\":\(list(roles.names)),\"apps\":\(list(apps.map(\.text))),"
            + "\"created\":\(instant(created)),\"expires\":\(instant(expires)),"
            + "\"revoked\":\(isRevoked),\(proof)}"
    }
}

// MARK: - Reading

extension KeyRecord {
    /// The longest name, in bytes.
    package static let nameByteCountMax = 128

    /// Reads a line.
    init(line: String) throws(KeyLine.Failure) {
        self.init(id: "", name: "", credential: .certificate(""), roles: [])
        var seen: Set<String> = []
        var apps: [String] = []
        for (name, value) in try KeyLine(line).members {
            seen.insert(name)
            switch (name, value) {
            case ("id", .text(let text)): id = text
            case ("name", .text(let text)): self.name = text
            case ("roles", .texts(let names)): roles = try Self.roles(names)
            case ("apps", .texts(let texts)): apps = texts
            case ("created", let value): created = try Self.instant(value, name)
            case ("expires", let value): expires = try Self.instant(value, name)
            case ("revoked", .flag(let flag)): isRevoked = flag
            case ("sha256", .text(let text)): credential = .key(try Self.digest(text))
            case ("certificate", .text(let text)): credential = .certificate(text)
            case ("id", _), ("name", _), ("sha256", _), ("certificate", _):
                throw .init(message: "`\(name)` is no string")
            case ("roles", _), ("apps", _):
                throw .init(message: "`\(name)` is no list of strings")
            case ("revoked", _): throw .init(message: "`revoked` is neither true nor false")
            default: throw .init(message: "`\(name)` is not known here")
            }
        }
        try setApps(apps)
        try check(seen)
    }

    /// A wrong app or role must not widen what a key may do, so nothing of it is guessed.
    private mutating func setApps(_ texts: [String]) throws(KeyLine.Failure) {
        for text in texts {
            guard let app = KeyApp(text) else {
                throw .init(
                    message: "`\(text)` is no bundle id, with or without :Production or :Sandbox")
            }
            apps.append(app)
        }
    }

    private func check(_ seen: Set<String>) throws(KeyLine.Failure) {
        for name in ["id", "name", "roles"] where !seen.contains(name) {
            throw .init(message: "`\(name)` is missing")
        }
        guard seen.contains("sha256") != seen.contains("certificate") else {
            throw .init(message: "it needs either `sha256` or `certificate`")
        }
        guard KeyText.isID(id) else {
            throw .init(message: "`id` is not 1 to \(KeyText.idByteCountMax) of a-z, 0-9 and -")
        }
        guard 1...Self.nameByteCountMax ~= name.utf8.count else {
            throw .init(message: "`name` is not 1 to \(Self.nameByteCountMax) bytes")
        }
        if case .certificate(let name) = credential, !Self.isCertificateName(name) {
            throw .init(
                message: "`certificate` is no name such as dns:backend.example, uri:..., "
                    + "email:... or cn:...")
        }
        if let problem = Self.problem(roles: roles, apps: apps) { throw .init(message: problem) }
    }

    /// What keeps roles and apps from going together; nil: nothing.
    package static func problem(roles: Roles, apps: [KeyApp]) -> String? {
        if roles.isEmpty { return "it has no role" }
        if roles.contains(.metrics), !apps.isEmpty {
            return "metrics are those of all apps: a key for them is limited to none"
        }
        return nil
    }

    /// Whether text is a name as the transport gives it.
    package static func isCertificateName(_ text: String) -> Bool {
        ["dns:", "uri:", "email:", "cn:"].contains {
            text.utf8.starts(with: $0.utf8) && text.utf8.count > $0.utf8.count
        } && text.utf8.count <= 1_024
    }

    private static func roles(_ names: [String]) throws(KeyLine.Failure) -> Roles {
        var roles: Roles = []
        for name in names {
            guard let role = Roles(name: name) else {
                throw .init(message: "`\(name)` is none of check, ingest, admin, metrics")
            }
            roles.formUnion(role)
        }
        return roles
    }

    private static func instant(
        _ value: KeyLine.Value, _ name: String
    ) throws(KeyLine.Failure) -> Int64 {
        if case .number(0) = value { return 0 }
        guard case .text(let text) = value, let milliseconds = KeyInstant.milliseconds(text) else {
            throw .init(message: "`\(name)` is neither 0 nor a time like \"2027-03-01T00:00:00Z\"")
        }
        return milliseconds
    }

    private static func digest(_ text: String) throws(KeyLine.Failure) -> SHA256Digest {
        let digits = Array(text.utf8)
        let values: [UInt8] = digits.compactMap {
            switch $0 {
            case 0x30...0x39: $0 - 0x30
            case 0x61...0x66: $0 - 0x57
            case 0x41...0x46: $0 - 0x37
            default: nil
            }
        }
        guard digits.count == 64, values.count == 64 else {
            throw .init(message: "`sha256` is not 64 hexadecimal digits")
        }
        let bytes = (0..<32).map { values[2 * $0] << 4 | values[2 * $0 + 1] }
        guard let digest = SHA256Digest(bytes: bytes.span) else {
            throw .init(message: "`sha256` is not 64 hexadecimal digits")
        }
        return digest
    }
}
