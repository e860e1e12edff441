package import OpenSSL

extension TestCertificateAuthority {
    /// The same authority with a signing certificate that is valid only between two instants.
    ///
    /// - Parameters:
    ///   - start: Milliseconds since 1970.
    ///   - end: Milliseconds since 1970.
    /// - Returns: An authority with the same root and intermediate.
    /// - Throws: `OpenSSLError`.
    package func withLeaf(
        validFrom start: Int64, to end: Int64
    ) throws(OpenSSLError) -> TestCertificateAuthority {
        try TestCertificateAuthority(
            rotatingLeafOf: self,
            validity: ValidityWindow(notBeforeMilliseconds: start, notAfterMilliseconds: end))
    }
}
