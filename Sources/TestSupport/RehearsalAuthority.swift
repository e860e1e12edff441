internal import Bytes
internal import OpenSSL

/// A test authority that can be kept in a file and used again: a root for a server to trust, and
/// the key and chain to sign with.
///
/// A fire drill into a running server needs it: the server was told to trust the root before.
package struct RehearsalAuthority: Sendable {
    /// The root, PEM: what a server is told to trust.
    package let rootPEM: [UInt8]
    private let key: SigningKey
    private let chain: [Certificate]
    private let encodedHeader: [UInt8]

    /// A new authority.
    ///
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    package init() throws(RehearsalAuthorityError) {
        do throws(OpenSSLError) {
            self.init(try TestCertificateAuthority(name: "Rehearsal"))
        } catch {
            throw RehearsalAuthorityError("a test authority cannot be made: \(error)")
        }
    }

    /// `authority`, to be kept or to have its root written.
    package init(_ authority: TestCertificateAuthority) {
        self.init(
            key: authority.leafKey,
            chain: [authority.leaf, authority.intermediate, authority.root])
    }

    /// The authority that was kept as `stored`.
    ///
    /// - Throws: `RehearsalAuthorityError` when these are not its bytes.
    package init(stored: [UInt8]) throws(RehearsalAuthorityError) {
        let blocks = Self.blocks(of: stored)
        guard blocks.count == 4 else {
            throw RehearsalAuthorityError(
                "a kept authority is a key and three certificates; these are \(blocks.count)")
        }
        do throws(OpenSSLError) {
            var chain: [Certificate] = []
            for block in blocks.dropFirst() { chain.append(try Certificate(file: block.span)) }
            let pem = blocks[0]
            self.init(key: try SigningKey(pem: pem.span), chain: chain)
        } catch {
            throw RehearsalAuthorityError("the kept authority cannot be read: \(error)")
        }
    }

    private init(key: SigningKey, chain: [Certificate]) {
        self.key = key
        self.chain = chain
        rootPEM = chain.last.map(\.pem) ?? []
        let entries = chain.map { certificate -> FixtureJSON in
            let der = certificate.der
            return .string(String(decoding: Base64.encode(der.span), as: UTF8.self))
        }
        let header: FixtureJSON = ["alg": "ES256", "x5c": .array(entries)]
        let text = header.utf8
        encodedHeader = Base64URL.encode(text.span)
    }

    /// All of it, to be kept where nobody else reads it.
    ///
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    package func stored() throws(RehearsalAuthorityError) -> [UInt8] {
        do throws(OpenSSLError) {
            let pem = try key.pem()
            return chain.reduce(into: pem) { $0 += $1.pem }
        } catch {
            throw RehearsalAuthorityError("the authority cannot be written: \(error)")
        }
    }

    /// Signs claims as Apple does.
    ///
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    package func sign(_ claims: FixtureJSON) throws(RehearsalAuthorityError) -> [UInt8] {
        try sign(payload: claims.utf8)
    }

    /// Signs a payload that was written elsewhere; any thread.
    ///
    /// - Returns: A compact JWS, ASCII.
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    package func sign(payload: [UInt8]) throws(RehearsalAuthorityError) -> [UInt8] {
        var jws = encodedHeader + [UInt8(ascii: ".")] + Base64URL.encode(payload.span)
        do throws(OpenSSLError) {
            let signature = try key.signature(of: jws.span)
            jws += [UInt8(ascii: ".")] + Base64URL.encode(signature.span)
            return jws
        } catch {
            throw RehearsalAuthorityError("a payload cannot be signed: \(error)")
        }
    }

    /// The PEM blocks of a file, each with its first and last line.
    private static func blocks(of bytes: [UInt8]) -> [[UInt8]] {
        let begin = "-----BEGIN "
        return String(decoding: bytes, as: UTF8.self).split(separator: begin).map {
            Array((begin + $0).utf8)
        }
    }
}

/// Why an authority cannot be made, read, written or used.
package struct RehearsalAuthorityError: Error, Equatable, Sendable, CustomStringConvertible {
    /// For people.
    package let description: String

    init(_ description: String) { self.description = description }
}
