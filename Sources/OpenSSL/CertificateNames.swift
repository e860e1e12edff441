internal import COpenSSL

/// Who a certificate says that its holder is.
enum CertificateNames {
    /// More names than this in one certificate are not looked at.
    private static let countMax: Int32 = 64
    /// A longer name is left out, and so is one that is no printable ASCII: two names that look
    /// alike must not stand for one holder.
    private static let byteCountMax = 255

    /// The names of `certificate`, each with its kind in front; see `TLSChannel.peerNames`.
    static func names(of certificate: OpaquePointer) -> [String] {
        var names = unsafe alternativeNames(of: certificate)
        if let name = unsafe commonName(of: certificate) { names.append("cn:\(name)") }
        ERR_clear_error()
        return names
    }

    private static func alternativeNames(of certificate: OpaquePointer) -> [String] {
        guard let list = unsafe entitled_alternative_names(certificate) else { return [] }
        defer { unsafe entitled_alternative_names_free(list) }
        var names: [String] = []
        for index in 0..<min(unsafe entitled_alternative_names_count(list), countMax) {
            var kind: Int32 = 0
            guard let value = unsafe entitled_alternative_name(list, index, &kind),
                let text = unsafe text(of: value)
            else { continue }
            switch kind {
            case GEN_DNS: names.append("dns:\(text)")
            case GEN_URI: names.append("uri:\(text)")
            case GEN_EMAIL: names.append("email:\(text)")
            default: break
            }
        }
        return names
    }

    /// The common name, where there is exactly one.
    private static func commonName(of certificate: OpaquePointer) -> String? {
        guard let subject = unsafe X509_get_subject_name(certificate) else { return nil }
        let index = unsafe X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
        guard index >= 0, unsafe X509_NAME_get_index_by_NID(subject, NID_commonName, index) < 0,
            let entry = unsafe X509_NAME_get_entry(subject, index),
            let value = unsafe X509_NAME_ENTRY_get_data(entry)
        else { return nil }
        return unsafe text(of: value)
    }

    private static func text(of value: UnsafePointer<ASN1_STRING>) -> String? {
        let byteCount = Int(unsafe ASN1_STRING_length(value))
        guard byteCount > 0, byteCount <= byteCountMax,
            let start = unsafe ASN1_STRING_get0_data(value)
        else { return nil }
        let bytes = unsafe UnsafeBufferPointer(start: start, count: byteCount)
        guard unsafe bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return unsafe String(decoding: bytes, as: UTF8.self)
    }
}
