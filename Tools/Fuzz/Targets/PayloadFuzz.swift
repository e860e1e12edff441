import AppStore
import Entitlements
import SnapshotTable
import Storage
import TestSupport

/// Payloads that are signed rightly and may say anything: what is taken keeps the contract's rules
/// and survives the store.
enum PayloadFuzz {
    /// One byte chooses the kind, the rest is the payload; see `SigningDesk.fill`.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let kind = script.choice(of: 5)
        let desk = try SigningDesk.shared.get()
        let jws = try desk.fixtures.authority.sign(desk.fill(script.remainder()))
        switch kind {
        case 0:
            guard let taken = try? desk.verifier.verifyTransaction(jws) else { return }
            try judge(taken.signed.transaction)
        case 1:
            guard let taken = try? desk.verifier.verifyRenewal(jws) else { return }
            try judge(taken.signed.renewal)
            try judge([taken.appAccountToken, taken.appTransactionID])
        case 2:
            guard let taken = try? desk.verifier.verifyAppTransaction(jws) else { return }
            try judge([taken.appTransactionID])
        case 3: try judgeNotification(jws, in: jws, desk)
        default: try judgeNotification(jws, in: SignedFixtures.body(jws), desk)
        }
    }

    private static func judgeNotification(
        _ jws: [UInt8], in body: [UInt8], _ desk: SigningDesk
    ) throws {
        guard let event = try? desk.verifier.verifyNotification(body) else { return }
        guard case .signed(let signed) = event else {
            throw FuzzFinding("a signed notification is taken for an unsigned one")
        }
        let notification = signed.notification
        try expect(signed.payload == jws, "a notification is not the bytes that came")
        try judge([notification.notificationUUID, notification.type])
        try judge(notification.transaction?.transaction)
        try judge(notification.renewal?.renewal)
        let stored = StoredNotification(body: body)
        try expect(
            stored?.transaction == notification.transaction?.payload,
            "the stored notification gives another transaction")
        try expect(
            stored?.renewal == notification.renewal?.payload,
            "the stored notification gives another renewal")
    }

    private static func judge(_ transaction: Transaction?) throws {
        guard let transaction else { return }
        try judge([
            transaction.transactionID, transaction.originalTransactionID,
            transaction.appAccountToken, transaction.appTransactionID,
            transaction.webOrderLineItemID, transaction.subscriptionGroupID, transaction.currency,
        ])
        let fact = TransactionFact(transaction: transaction)
        let record = RecordCodec.encode(fact)
        let again = try RecordCodec.decodeTransaction(record)
        try expect(
            again == fact && RecordCodec.encode(again) == record,
            "a transaction changes in the store: \(transaction)")
        // What an answer is computed from must not trap on any date.
        let located = RecordCodec.locate(in: record.span, from: 0)
        try expect(located?.plain == PlainFact(fact), "a transaction is located wrongly")
        let name = ExactName(transaction.transactionID)
        for records in CustomerHistory(transactions: [name: fact]).grantsByProduct().values {
            for record in records { _ = record.grant.latestStop }
        }
    }

    private static func judge(_ renewal: RenewalInfo?) throws {
        guard let renewal else { return }
        try judge([renewal.originalTransactionID, renewal.productID, renewal.autoRenewProductID])
        let record = RecordCodec.encode(renewal)
        let again = try RecordCodec.decodeRenewal(record)
        try expect(
            again == renewal && RecordCodec.encode(again) == record,
            "a renewal changes in the store: \(renewal)")
    }

    /// The contract's rule of identifiers: 1 to 128 bytes.
    private static func judge(_ identifiers: [String?]) throws {
        for case let identifier? in identifiers {
            try expect(
                1...128 ~= identifier.utf8.count, "an identifier of \(identifier.utf8.count) bytes")
        }
    }
}
