import Entitlements
import Storage

/// Records of the store: what decodes, encodes to something that decodes to the same bytes.
enum RecordFuzz {
    private static let kinds: [(name: String, again: @Sendable ([UInt8]) throws -> [UInt8])] = [
        ("transaction", { try RecordCodec.encode(RecordCodec.decodeTransaction($0)) }),
        ("renewal", { try RecordCodec.encode(RecordCodec.decodeRenewal($0)) }),
        ("identity", { try RecordCodec.encode(RecordCodec.decodeIdentity($0)) }),
        ("customer", { try RecordCodec.encode(RecordCodec.decodeCustomer($0)) }),
        ("notification", { try RecordCodec.encode(RecordCodec.decodeNotification($0)) }),
        ("audit", { try RecordCodec.encode(RecordCodec.decodeAudit($0)) }),
        ("refresh", { try RecordCodec.encode(RecordCodec.decodeRefresh($0)) }),
        ("refund", { try RecordCodec.encode(RecordCodec.decodeRefund($0)) }),
        ("usage", { try RecordCodec.encode(RecordCodec.decodeUsage($0)) }),
        ("long index", { try RecordCodec.encode(RecordCodec.decodeLongIndex($0)) }),
        ("number", { try RecordCodec.encode(RecordCodec.decodeNumber($0, in: .meta)) }),
        (
            "counts",
            { bytes in
                let counts = try RecordCodec.decodeCounts(bytes)
                return RecordCodec.encode(
                    customers: counts.customers, transactions: counts.transactions)
            }
        ),
    ]

    /// One byte chooses the kind, the rest is the record.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let kind = kinds[script.choice(of: kinds.count)]
        let record = script.remainder()
        if kind.name == "transaction" { try compareLocated(record) }
        guard let once = try? kind.again(record) else { return }
        guard let twice = try? kind.again(once) else {
            throw FuzzFinding("a record (\(kind.name)) does not survive being written")
        }
        try expect(once == twice, "a record (\(kind.name)) changes on its way")
    }

    /// The look at a record that makes no text sees what decoding it sees.
    private static func compareLocated(_ record: [UInt8]) throws {
        let fact = try? RecordCodec.decodeTransaction(record)
        let located = RecordCodec.locate(in: record.span, from: 0)
        try expect(
            (fact == nil) == (located == nil),
            "located: \(located != nil), decoded: \(fact != nil)")
        guard let fact, let located else { return }
        func bytes(_ range: TextRange?) -> [UInt8]? { range.map { Array(record[$0.range]) } }
        let transaction = fact.transaction
        let names: [(TextRange?, String?)] = [
            (located.id, transaction.transactionID),
            (located.chain, transaction.originalTransactionID),
            (located.product, transaction.productID),
            (located.group, transaction.subscriptionGroupID),
            (located.token, transaction.appAccountToken),
            (located.account, transaction.appTransactionID),
        ]
        for (range, text) in names {
            try expect(
                bytes(range) == text.map { Array($0.utf8) }, "a name is located wrongly: \(fact)")
        }
        try expect(located.plain == PlainFact(fact), "values are located wrongly: \(fact)")
        try expect(located.isMatched == (fact.matched != nil), "a match is located wrongly")
    }
}
