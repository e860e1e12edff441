import Bytes
import OpenSSL

/// Ways in which signed data can be wrong, by the names that scenario files use.
enum ScenarioForgery: String, CaseIterable, Sendable {
    /// Signed by an authority that nobody pinned.
    case stranger
    /// The payload was changed after signing.
    case changed
    case zeroSignature = "zero-signature"
    case emptySignature = "empty-signature"
    /// Eight bytes: the DER form of r = 0, s = 0.
    case derZeroSignature = "der-zero-signature"
    /// r = n, s = 1.
    case orderAsR = "order-as-r"
    /// r = 1, s = n.
    case orderAsS = "order-as-s"
    /// One byte is missing at the end.
    case cutSignature = "cut-signature"
    /// One byte too many at the end.
    case longSignature = "long-signature"
    case algorithmNone = "alg-none"
    case algorithmHS256 = "alg-hs256"
    case algorithmES384 = "alg-es384"
    case algorithmLowerCase = "alg-es256"
    case noChain = "no-x5c"
    case emptyChain = "empty-x5c"
    /// Only the signing certificate.
    case chainOfOne = "x5c-of-one"
    /// An entry that is no Base64.
    case brokenChain = "x5c-no-base64"
    /// Base64 padding after the signature.
    case padded
    /// A line break inside.
    case lineBreak = "line-break"

    /// P-256's order, big-endian.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
        0x25, 0x51,
    ]

    /// `claims` as a forger would hand them in.
    func sign(
        _ claims: FixtureJSON, authority: TestCertificateAuthority
    ) throws(OpenSSLError) -> [UInt8] {
        let genuine = try authority.sign(claims)
        let one = [UInt8](repeating: 0, count: 31) + [1]
        switch self {
        case .stranger: return try TestCertificateAuthority(name: "Stranger").sign(claims)
        case .changed: return changed(genuine, claims)
        case .zeroSignature: return resigned(genuine, [UInt8](repeating: 0, count: 64))
        case .emptySignature: return resigned(genuine, [])
        case .derZeroSignature: return resigned(genuine, [0x30, 6, 2, 1, 0, 2, 1, 0])
        case .orderAsR: return resigned(genuine, Self.order + one)
        case .orderAsS: return resigned(genuine, one + Self.order)
        case .cutSignature: return resigned(genuine, Array(signature(genuine).dropLast()))
        case .longSignature: return resigned(genuine, signature(genuine) + [0])
        case .padded: return genuine + Array("==".utf8)
        case .lineBreak:
            return Array(genuine.prefix(100)) + [0x0A] + Array(genuine.dropFirst(100))
        default:
            return try authority.sign(
                header: header(of: authority), payload: claims.utf8)
        }
    }

    private func header(of authority: TestCertificateAuthority) -> FixtureJSON {
        var header = authority.header
        guard case .array(let chain)? = header["x5c"] else { return header }
        switch self {
        case .algorithmNone: header["alg"] = "none"
        case .algorithmHS256: header["alg"] = "HS256"
        case .algorithmES384: header["alg"] = "ES384"
        case .algorithmLowerCase: header["alg"] = "es256"
        case .noChain: header["x5c"] = nil
        case .emptyChain: header["x5c"] = .array([])
        case .chainOfOne: header["x5c"] = .array(Array(chain.prefix(1)))
        case .brokenChain: header["x5c"] = .array(["-_-_", chain[1], chain[2]])
        default: break
        }
        return header
    }

    private func segments(_ jws: [UInt8]) -> [[UInt8]] {
        jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
    }

    private func signature(_ jws: [UInt8]) -> [UInt8] {
        let encoded = segments(jws)[2]
        return (try? Base64URL.decode(encoded.span)) ?? []
    }

    private func resigned(_ jws: [UInt8], _ signature: [UInt8]) -> [UInt8] {
        let parts = segments(jws)
        let dot = [UInt8(ascii: ".")]
        return parts[0] + dot + parts[1] + dot + Base64URL.encode(signature.span)
    }

    private func changed(_ jws: [UInt8], _ claims: FixtureJSON) -> [UInt8] {
        let parts = segments(jws)
        let dot = [UInt8(ascii: ".")]
        let other = claims.changed(["forged": true]).utf8
        return parts[0] + dot + Base64URL.encode(other.span) + dot + parts[2]
    }
}
