import Wire

/// A request as the first release wrote it, byte for byte, encoded by protoc from the contract of
/// that release; and what it is answered with.
struct GoldenFrame: Sendable, CustomStringConvertible {
    let call: String
    let status: Message.Status
    let reason: String
    /// Length and body.
    let hexadecimal: String

    var description: String { call }

    var bytes: [UInt8] {
        let digits = hexadecimal.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    /// Every call of that release. The first one makes the customer whom others ask about. A frame
    /// that stands here is never changed.
    static let all = [
        GoldenFrame(
            call: "LinkCustomer", status: .ok, reason: "",
            hexadecimal: "00000067086510904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d30317a270a03752d"
                + "3112032201311a160a12636f6d2e6578616d706c652e6d6561646f7710022a03682d31"),
        GoldenFrame(
            call: "CheckAccess", status: .ok, reason: "",
            hexadecimal: "0000006b086610904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d3031522b0a050a03"
                + "752d311201702080d095ffbc3132160a12636f6d2e6578616d706c652e6d6561646f7710"
                + "023802"),
        GoldenFrame(
            call: "CheckAccessBatch", status: .ok, reason: "",
            hexadecimal: "00000089086710904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d30315a490a250a05"
                + "0a03752d311a04706c757332160a12636f6d2e6578616d706c652e6d6561646f7710020a"
                + "200a0312015412017032160a12636f6d2e6578616d706c652e6d6561646f771002"),
        GoldenFrame(
            call: "IngestNotification", status: .invalidArgument, reason: "MALFORMED_PAYLOAD",
            hexadecimal: "00000044086810904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d303162040a027b7d"),
        GoldenFrame(
            call: "IngestTransactions", status: .invalidArgument, reason: "MALFORMED_PAYLOAD",
            hexadecimal: "0000004c086910904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d30316a0c0a03752d"
                + "311205612e622e63"),
        GoldenFrame(
            call: "RebuildCustomer", status: .ok, reason: "",
            hexadecimal: "00000063086a10904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d303172230a050a03"
                + "752d311001180122160a12636f6d2e6578616d706c652e6d6561646f771002"),
        GoldenFrame(
            call: "GetCustomer", status: .ok, reason: "",
            hexadecimal: "00000062086b10904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d30318201210a050a"
                + "03752d3112160a12636f6d2e6578616d706c652e6d6561646f7710022001"),
        GoldenFrame(
            call: "GetServerInfo", status: .ok, reason: "",
            hexadecimal: "00000041086c10904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d30318a0100"),
        GoldenFrame(
            call: "BackfillNotifications", status: .failedPrecondition,
            reason: "APP_STORE_NOT_CONFIGURED",
            hexadecimal: "00000069086d10904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d30319201280a160a"
                + "12636f6d2e6578616d706c652e6d6561646f7710021080d095ffbc3118e8d795ffbc3130"
                + "01"),
        GoldenFrame(
            call: "ListCustomers", status: .ok, reason: "",
            hexadecimal: "0000005b086e10904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d30319a011a0a160a"
                + "12636f6d2e6578616d706c652e6d6561646f771002180a"),
        GoldenFrame(
            call: "GetFamily", status: .ok, reason: "",
            hexadecimal: "0000005e086f10904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d3031a2011d120368"
                + "2d311a160a12636f6d2e6578616d706c652e6d6561646f771002"),
        GoldenFrame(
            call: "ListRefunds", status: .ok, reason: "",
            hexadecimal: "00000069087010904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d3031aa01280a160a"
                + "12636f6d2e6578616d706c652e6d6561646f7710021080d095ffbc311880a0f1c2b13430"
                + "0a"),
        GoldenFrame(
            call: "AuditAccess", status: .ok, reason: "",
            hexadecimal: "0000005b087110904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d3031b2011a0a160a"
                + "12636f6d2e6578616d706c652e6d6561646f771002180a"),
        GoldenFrame(
            call: "GetReconciliation", status: .ok, reason: "",
            hexadecimal: "0000005b087210904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d3031ba011a0a160a"
                + "12636f6d2e6578616d706c652e6d6561646f771002180a"),
        GoldenFrame(
            call: "TestNotification", status: .failedPrecondition,
            reason: "APP_STORE_NOT_CONFIGURED",
            hexadecimal: "00000059087310904e1a3730302d30616637363531393136636434336464383434386562"
                + "323131633830333139632d623761643662373136393230333333312d3031c201180a160a"
                + "12636f6d2e6578616d706c652e6d6561646f771002"),
    ]
}
