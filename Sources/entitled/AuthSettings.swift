/// Who may call, and where it is written down, as configured.
struct AuthSettings: Equatable, Sendable {
    /// `nil`: everybody may call.
    var keysPath: String?
    /// Whether /metrics asks for no key although others do.
    var hasOpenMetrics: Bool
    /// `nil`: where the data are, if there is a keys file.
    var auditPath: String?
    /// When the audit is put aside for a new file, in bytes.
    var auditByteCountMax: Int

    init(_ reader: SettingReader) {
        keysPath = reader.texts(.authKeysFile).first
        hasOpenMetrics = reader.boolean(.authOpenMetrics)
        auditPath = reader.texts(.authAuditFile).first
        auditByteCountMax = Int(reader.integer(.authAuditSize))
    }

    /// Where the audit is written; `nil`: nowhere. Where nobody says who he is there is little to
    /// write down, so that takes a word of the operator.
    func auditFile(inDataDirectory directory: String) -> String? {
        if let auditPath { return auditPath }
        return keysPath == nil ? nil : directory + "/audit.jsonl"
    }
}
