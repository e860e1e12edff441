import Entitlements
import SnapshotTable
import Testing

@Suite struct SnapshotCodecTests {
    @Test(arguments: UInt64(1)...60)
    func `bytes answer as the array that they were made from`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let products = generator.products(["a", "b", "ab", "meadow.plus.month", "é"])
        let signed = Timestamp(milliseconds: Int64(generator.next() >> 2))
        let snapshot = SnapshotCodec.encode(products, newestSignedDate: signed)
        let view = SnapshotView(snapshot.span)
        #expect(isWellFormed(snapshot))
        #expect(view.newestSignedDate == signed.milliseconds)
        #expect(view.productCount == products.count)
        for (name, records) in products {
            let nameBytes = Array(name.text.utf8)
            let index = view.index(ofProduct: nameBytes.span)
            guard let index else {
                Issue.record("\(name) is not found, seed \(seed)")
                return
            }
            let grants = view.grants(ofProductAt: index)
            let array = GrantArray(sorted: records.map(\.grant))
            compare(grants, array, records, &generator, "seed \(seed), \(name)")
        }
    }

    private func compare(
        _ grants: borrowing GrantsView, _ array: GrantArray, _ records: [GrantRecord],
        _ generator: inout SeededGenerator, _ context: Comment
    ) {
        #expect(grants.count == records.count, context)
        for index in records.indices {
            let (grant, end) = (grants.grant(at: index), grants.endOfRest(after: index))
            #expect(grant == records[index].grant, context)
            #expect(end == array.endOfRest(after: index), context)
            let id = text(grants.transactionID(at: index))
            let chain = text(grants.originalTransactionID(at: index))
            #expect(id == records[index].transactionID, context)
            #expect(chain == records[index].originalTransactionID, context)
        }
        let policy = generator.policy()
        for instant in stride(from: Int64(-10), to: 400, by: 5) {
            let found = grants.fullDecision(at: instant, under: policy)
            #expect(found == array.fullDecision(at: instant, under: policy), context)
            #expect(grants.quickDecision(at: instant, under: policy) == found, context)
        }
    }

    @Test func `names that are not there are not found`() {
        var generator = SeededGenerator(seed: 7)
        let snapshot = SnapshotCodec.encode(
            generator.products(["b", "d", "dd"]), newestSignedDate: nil)
        for name in ["", "a", "b\u{0}", "c", "bb", "d\u{ff}", "ddd", "e"] {
            let view = SnapshotView(snapshot.span)
            let bytes = Array(name.utf8)
            let index = view.index(ofProduct: bytes.span)
            #expect(index == nil, "\(name)")
        }
    }

    @Test func `a customer without transactions has a snapshot without products`() {
        let snapshot = SnapshotCodec.encode([:], newestSignedDate: nil)
        #expect(snapshot.count == 16)
        #expect(isWellFormed(snapshot))
        let view = SnapshotView(snapshot.span)
        #expect(view.productCount == 0)
        #expect(view.newestSignedDate == .min)
    }

    @Test func `a snapshot of another layout is not read`() {
        var snapshot = SnapshotCodec.encode([:], newestSignedDate: nil)
        snapshot[8] = 2
        #expect(!isWellFormed(snapshot))
    }
}

@Suite struct SnapshotViewTests {
    @Test func `every truncation is found out`() {
        var generator = SeededGenerator(seed: 11)
        let snapshot = SnapshotCodec.encode(
            generator.products(["a", "b"]), newestSignedDate: nil)
        for count in 0..<snapshot.count {
            let cut = Array(snapshot.prefix(count))
            // A text that nobody's offset reaches may be missing; the last one is always reached.
            #expect(!isWellFormed(cut) || readsThrough(cut), "\(count) of \(snapshot.count)")
        }
        #expect(!isWellFormed([]))
        #expect(!isWellFormed(Array(snapshot.prefix(15))))
    }

    @Test(arguments: UInt64(1)...20)
    func `flipped bytes are refused, or read without a trap`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let snapshot = SnapshotCodec.encode(
            generator.products(["a", "b", "c"]), newestSignedDate: nil)
        for _ in 0..<400 {
            var damaged = snapshot
            for _ in 0...(generator.next() % 3) {
                let position = Int(generator.next() % UInt64(damaged.count))
                damaged[position] = UInt8(truncatingIfNeeded: generator.next())
            }
            if isWellFormed(damaged) { #expect(readsThrough(damaged), "seed \(seed)") }
        }
    }

    @Test func `lengths near the limits of their types do not overflow`() {
        var generator = SeededGenerator(seed: 3)
        let snapshot = SnapshotCodec.encode(generator.products(["a"]), newestSignedDate: nil)
        for offset in stride(from: 12, to: 32, by: 4) {
            var damaged = snapshot
            for byte in offset..<offset + 4 { damaged[byte] = 0xFF }
            #expect(!isWellFormed(damaged), "offset \(offset)")
        }
    }

    /// Reads everything that a check could ask for; a read out of bounds would trap.
    private func readsThrough(_ snapshot: [UInt8]) -> Bool {
        let view = SnapshotView(snapshot.span)
        var sum = 0
        for index in 0..<view.productCount {
            sum += view.productID(at: index).count
            let grants = view.grants(ofProductAt: index)
            for grant in 0..<grants.count {
                sum += grants.transactionID(at: grant).count
                sum += grants.originalTransactionID(at: grant).count
            }
            if grants.count > 0 {
                sum += Int(grants.fullDecision(at: 50, under: ProductPolicy()).reason.rawValue)
            }
        }
        let name: [UInt8] = [0x62]
        sum += view.index(ofProduct: name.span) ?? 0
        return sum >= 0
    }
}
