import Entitlements
import SnapshotTable
import Storage
import Wire

/// Inputs of binary forms, made by today's encoders: a changed form has seeds from its first day.
///
/// What is text stands as a file in the corpus of its target.
enum FuzzSeeds {
    private static let instant = Timestamp(milliseconds: 1_772_323_200_000)

    private static var transaction: Transaction {
        var transaction = Transaction(
            transactionID: "7", originalTransactionID: "5", productID: "p",
            rawType: "Auto-Renewable Subscription", rawOwnership: "FAMILY_SHARED",
            purchaseDate: instant, signedDate: instant)
        transaction.expiresDate = Timestamp(milliseconds: instant.milliseconds + 1_000)
        transaction.revocationDate = instant
        transaction.revocationReason = 1
        transaction.appAccountToken = "6e7b5f4a-0000-4000-8000-00000000000a"
        transaction.subscriptionGroupID = "21000001"
        transaction.price = 9_990
        return transaction
    }

    private static var renewal: RenewalInfo {
        var renewal = RenewalInfo(originalTransactionID: "5", signedDate: instant)
        renewal.gracePeriodExpiresDate = instant
        renewal.autoRenewProductID = "p"
        renewal.payloadRevision = 9
        return renewal
    }

    /// A record of each kind behind the number of its kind; see `RecordFuzz`.
    static func records() -> [[UInt8]] {
        var fact = TransactionFact(transaction: transaction)
        fact.evidence.datelessRevoke = instant
        fact.payloadRevision = 3
        var long = LongIndexRecord(
            transactionCount: 2, upgradedCount: 1, leastAccount: "a", leastChain: nil)
        long.chains[ExactName("5")] = LongLine()
        var product = LongIndexRecord.Product(isCut: true, restStop: 1, restLineStart: 2)
        product.heads = [LongIndexRecord.Head(signedDate: 1, group: "g")]
        long.products = [product]
        let ending = Ending(instant: instant, learnedAt: instant)
        let records: [[UInt8]] = [
            RecordCodec.encode(fact), RecordCodec.encode(renewal),
            RecordCodec.encode(IdentityRecord(said: 1, primary: 2, holders: [1, 2])),
            RecordCodec.encode(CustomerRecord(name: "a", household: "h", revision: 4)), [1],
            RecordCodec.encode(
                AuditRecord(at: instant, action: "link", customer: "a", detail: "d")),
            RecordCodec.encode(RefreshJob(trigger: .revoke, queuedAt: instant, revision: 4)),
            RecordCodec.encode(
                RefundRecord(
                    ownership: .purchased, isPaymentReversed: true, productID: "p",
                    endings: [.revoked: ending])),
            RecordCodec.encode(UsageRecord(checks: 1, units: 2)), RecordCodec.encode(long),
            RecordCodec.encode(7), RecordCodec.encode(customers: 1, transactions: 2),
        ]
        return records.enumerated().map { [UInt8($0.offset)] + $0.element }
    }

    /// Keys of the forms that are taken apart.
    static func keys() -> [[UInt8]] {
        let customer = CustomerKey(scope: ScopeNumber(1), number: 2)
        let position = RefundPosition(instant: instant, customer: customer, transactionID: "7")
        return [
            Key.refund(position), Key.usage([0x37], on: 20_000, in: ScopeNumber(1)),
            Key.history(customer, revision: 3),
            // The order of an earlier release: scope, framed product, dates, customer, id.
            [0, 1, 0, 1, 0x70] + [UInt8](repeating: 0, count: 24) + [0x37],
        ]
    }

    /// Snapshots behind two instants and a name; see `SnapshotFuzz`.
    static func snapshots() -> [[UInt8]] {
        let kinds: [(type: String, ownership: String)] = [
            ("Auto-Renewable Subscription", "PURCHASED"), ("Non-Consumable", "FAMILY_SHARED"),
        ]
        return kinds.flatMap { kind -> [[UInt8]] in
            let purchase = Transaction(
                transactionID: "8", originalTransactionID: "8", productID: "p", rawType: kind.type,
                rawOwnership: kind.ownership, purchaseDate: instant, signedDate: instant)
            let fact = TransactionFact(transaction: purchase)
            let refunded = TransactionFact(transaction: transaction)
            let histories = [[fact], [fact, refunded]].map { facts in
                CustomerHistory(
                    transactions: Dictionary(
                        facts.map { (ExactName($0.transaction.transactionID), $0) },
                        uniquingKeysWith: { $1 }))
            }
            let now = bytes(of: instant.milliseconds + 500)
            return histories.map { history in
                bytes(of: 0) + now + [1, 0x70]
                    + SnapshotCodec.encode(
                        history.grantsByProduct(), newestSignedDate: instant)
            }
        }
    }

    /// Bodies of requests.
    static func requests() throws -> [[UInt8]] {
        var check = Message.CheckAccessRequest(customer: .customerID("ab"), subject: .product("p"))
        check.atMilliseconds = instant.milliseconds
        check.minRevision = 300
        check.units = 2
        check.scope = Message.Scope(bundleID: "com.example.meadow", environment: .sandbox)
        let usual = Message.CheckAccessRequest(
            customer: .appAccountToken("6e7b5f4a"), subject: .entitlement("plus"))
        var upload = Message.IngestTransactionsRequest()
        upload.signedTransactions = ["a.b.c", "d.e.f"]
        var customer = Message.GetCustomerRequest()
        customer.customer = .originalTransactionID("5")
        let calls: [Request.Call] = [
            .checkAccess(check), .checkAccess(usual), .checkAccessBatch([check, usual]),
            .ingestNotification(.init(payload: [0x7B, 0x7D])), .ingestTransactions(upload),
            .getCustomer(customer), .getServerInfo, .listCustomers(.init()), .listRefunds(.init()),
            .linkCustomer(.init()), .rebuildCustomer(.init()), .auditAccess(.init()),
        ]
        return try calls.enumerated().map { index, call in
            var request = Request(id: UInt64(index) * 1_000, call: call)
            request.timeoutMilliseconds = 500
            request.apiKey = "k"
            var output = OutputBuffer()
            try request.encodeFrame(
                into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
            return Array(Text(copying: output.bytes).bytes.dropFirst(FrameDecoder.prefixByteCount))
        }
    }

    /// Bodies of responses.
    static func responses() throws -> [[UInt8]] {
        var answer = Message.CheckAccessResponse()
        answer.granted = true
        answer.reason = .active
        answer.validUntilMilliseconds = instant.milliseconds
        answer.productID = "p"
        answer.transactionID = "7"
        answer.originalTransactionID = "5"
        answer.revision = 1 << 40
        var batch = Message.CheckAccessBatchResponse()
        batch.results = [answer, Message.CheckAccessResponse()]
        let results: [Response.Result] = [
            .checkAccess(answer), .checkAccessBatch(batch), .getCustomer(.init()),
            .getServerInfo(.init()), .ingestNotification(.init()), .listCustomers(.init()),
        ]
        return try results.map { result in
            var output = OutputBuffer()
            try Response(id: 300, result: result).encodeFrame(
                into: &output, in: MessageArena(), frameByteCountMax: 1 << 20)
            return Array(Text(copying: output.bytes).bytes.dropFirst(FrameDecoder.prefixByteCount))
        }
    }

    private static func bytes(of instant: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: instant >> (56 - 8 * $0)) }
    }
}
