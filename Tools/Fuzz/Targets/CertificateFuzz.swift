import OpenSSL
import TestSupport

/// Certificates from strangers: what parses keeps its bytes, and only the authority's are trusted.
enum CertificateFuzz {
    /// One byte chooses: the bytes of a file or of a certificate, or patches of good ones.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let kind = script.choice(of: 4)
        let authority = try SigningDesk.shared.get().fixtures.authority
        switch kind {
        case 0:
            guard let certificate = try? Certificate(der: script.remainder().span) else { return }
            try look(at: certificate)
        case 1:
            guard let certificate = try? Certificate(file: script.remainder().span) else { return }
            try look(at: certificate)
        case 2:
            let leaf = script.patched(authority.leaf.der)
            try judge(leaf, authority.intermediate.der, authority)
        default:
            let intermediate = script.patched(authority.intermediate.der)
            try judge(authority.leaf.der, intermediate, authority)
        }
    }

    private static func look(at certificate: Certificate) throws {
        _ = (certificate.subject, certificate.validity)
        _ = certificate.hasExtension(oid: ChainPolicy.receiptSignerOID)
        _ = ES256PublicKey(certificate)
        let der = certificate.der
        let again = try Certificate(der: der.span)
        try expect(
            again.der == der && again.fingerprint == certificate.fingerprint,
            "a certificate changes on its way")
    }

    private static func judge(
        _ leaf: [UInt8], _ intermediate: [UInt8], _ authority: TestCertificateAuthority
    ) throws {
        guard let leafRead = try? Certificate(der: leaf.span),
            let intermediateRead = try? Certificate(der: intermediate.span)
        else { return }
        try look(at: leafRead)
        try look(at: intermediateRead)
        let policy = try ChainPolicy(roots: [authority.root])
        guard (try? policy.verify(leaf: leafRead, intermediate: intermediateRead)) != nil else {
            return
        }
        // The last bytes are the signature, of which there may be two for the same certificate.
        let signatureByteCount = 110
        for (patched, good) in [
            (leaf, authority.leaf.der), (intermediate, authority.intermediate.der),
        ] {
            try expect(
                patched.dropLast(signatureByteCount).elementsEqual(
                    good.dropLast(signatureByteCount)), "a patched certificate is trusted")
        }
    }
}
