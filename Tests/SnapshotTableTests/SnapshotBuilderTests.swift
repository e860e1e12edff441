import Entitlements
import SnapshotTable
import Testing

@Suite struct SnapshotBuilderTests {
    /// The same grants by the readable encoder and from an arena.
    @Test(arguments: [[0], [1], [3, 1], [2, 0, 5]])
    func `it builds what the encoder builds`(counts: [Int]) {
        var arena: [UInt8] = []
        func place(_ text: String) -> TextRange {
            defer { arena.append(contentsOf: text.utf8) }
            return TextRange(start: UInt32(arena.count), count: UInt16(text.utf8.count))
        }
        var products: [PlacedProduct] = []
        var grants: [PlacedGrant] = []
        var expected: [ExactName: [GrantRecord]] = [:]
        for (product, count) in counts.enumerated() {
            let name = "product \(product)"
            var records: [GrantRecord] = []
            for index in 0..<count {
                var grant = Grant(
                    type: .autoRenewable, ownership: .familyShared, start: Int64(90 - index))
                grant.end = Int64(index * 70 % 130)
                grant.upgradedFrom = -5
                grant.flags = [.prorated, .matchedCut]
                grant.revocationReason = .familyLeft
                records.append(
                    GrantRecord(
                        grant: grant, transactionID: "\(product)-\(index)",
                        originalTransactionID: "chain \(index)", revocation: nil,
                        isOverridden: false, family: nil))
            }
            let ends = GrantArray.endsOfRest(records.map(\.grant))
            let first = grants.count
            for (record, end) in zip(records, ends) {
                grants.append(
                    PlacedGrant(
                        grant: record.grant, endOfRest: end,
                        transactionID: place(record.transactionID),
                        originalTransactionID: place(record.originalTransactionID)))
            }
            products.append(PlacedProduct(name: place(name), grants: first..<grants.count))
            expected[name] = records
        }
        let snapshot = SnapshotBuilder.build(
            newestSignedDate: 42, products: products, grants: grants, arena: arena)
        #expect(
            snapshot
                == SnapshotCodec.encode(
                    expected, newestSignedDate: Timestamp(milliseconds: 42)))
    }

    @Test func `nothing is sixteen bytes`() {
        let empty = SnapshotBuilder.build(
            newestSignedDate: .min, products: [], grants: [], arena: [])
        #expect(empty == SnapshotCodec.encode([:], newestSignedDate: nil))
        #expect(empty.count == 16)
    }
}
