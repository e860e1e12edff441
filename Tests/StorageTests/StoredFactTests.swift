import Entitlements
import Storage
import Testing

@Suite struct StoredFactTests {
    private func sample() -> TransactionFact {
        var transaction = Transaction(
            transactionID: "2000000000000001", originalTransactionID: "2000000000000000",
            productID: "com.example.pro", rawType: "Auto-Renewable Subscription",
            rawOwnership: "FAMILY_SHARED", purchaseDate: Timestamp(milliseconds: 5),
            signedDate: Timestamp(milliseconds: 7))
        transaction.expiresDate = Timestamp(milliseconds: 9)
        transaction.revocationDate = Timestamp(milliseconds: -3)
        transaction.revocationReason = 1
        transaction.revocationType = "REFUND_PRORATED"
        transaction.isUpgraded = true
        transaction.appTransactionID = "704"
        transaction.subscriptionGroupID = "21"
        transaction.currency = "EUR"
        var fact = TransactionFact(transaction: transaction)
        fact.evidence.grantNotification = Timestamp(milliseconds: 11)
        fact.matched = MatchedPurchase(
            transactionID: "1", kind: .strong,
            refund: PurchaseRefund(
                date: Timestamp(milliseconds: 1), isProrated: false,
                signedDate: Timestamp(milliseconds: 2)))
        return fact
    }

    private func locate(_ arena: [UInt8], from start: Int = 0) -> StoredFact? {
        RecordCodec.locate(in: arena.span, from: start)
    }

    private func text(_ range: TextRange?, _ bytes: [UInt8]) -> String? {
        range.map { String(decoding: bytes[$0.range], as: UTF8.self) }
    }

    @Test func `a look at a record finds what decoding finds`() throws {
        let fact = sample()
        let record = RecordCodec.encode(fact)
        let arena = [1, 2, 3] + record
        let row = try #require(locate(arena, from: 3))
        #expect(row.plain == PlainFact(fact))
        #expect(row.record == 3..<arena.count)
        #expect(text(row.id, arena) == "2000000000000001")
        #expect(text(row.chain, arena) == "2000000000000000")
        #expect(text(row.product, arena) == "com.example.pro")
        #expect(text(row.group, arena) == "21")
        #expect(text(row.account, arena) == "704")
        #expect(row.hasDecimalID && row.isMatched && row.isShared)
    }

    @Test(arguments: [
        "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription",
        "Non-Renewing Subscriptiom", "", "Consumablé",
    ])
    func `types are those of decoding`(type: String) throws {
        var fact = sample()
        fact.transaction.rawType = type
        fact.matched = nil
        for ownership in ["PURCHASED", "FAMILY_SHARED", "ASSIGNED", "LENT", "ASSIGNEE"] {
            fact.transaction.rawOwnership = ownership
            let record = RecordCodec.encode(fact)
            let row = try #require(locate(record))
            #expect(row.plain == PlainFact(fact))
        }
    }

    /// Every byte in turn is changed, and the record cut at every length: both ways of reading
    /// agree on what is a record.
    @Test func `it takes what decoding takes and refuses what decoding refuses`() {
        let record = RecordCodec.encode(sample())
        for count in 0..<record.count {
            let cut = Array(record.prefix(count))
            #expect(locate(cut) == nil)
        }
        for index in record.indices {
            for change: UInt8 in [1, 2, 0x80, 0xFF] {
                var damaged = record
                damaged[index] ^= change
                let decoded = try? RecordCodec.decodeTransaction(damaged)
                let row = locate(damaged)
                #expect((row == nil) == (decoded == nil), "byte \(index) ^ \(change)")
                if let row, let decoded { #expect(row.plain == PlainFact(decoded)) }
            }
        }
    }
}
