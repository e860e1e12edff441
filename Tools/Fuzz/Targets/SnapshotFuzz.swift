import Entitlements
import SnapshotTable

/// Snapshots from disk: what is well formed can be asked anything, and both readers say the same.
enum SnapshotFuzz {
    private static let catalog = CompiledCatalog([
        Catalog(products: ["p": .init(entitlements: ["plus"])])
    ])
    private static let name = Array("customer".utf8)

    /// An instant, now, a name, then the snapshot.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let instant = script.instant()
        let now = script.instant()
        let asked = script.bytes(script.choice(of: 8))
        let snapshot = script.remainder()
        let view = SnapshotView(snapshot.span)
        guard view.isWellFormed else { return }
        var products = [asked, Array("p".utf8)]
        for index in 0..<min(view.productCount, 8) {
            products.append(copy(view.productID(at: index)))
            look(at: view.grants(ofProductAt: index))
            let horizon = view.horizon(ofProductAt: index)
            try expect(
                view.reaches(back: instant, ofProductAt: index) == (instant >= horizon),
                "a horizon is read in two ways")
        }
        _ = view.longIndex
        guard !view.isLong else { return }
        for product in products where product.count <= 128 {
            try compare(snapshot, product, at: instant, now)
        }
    }

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        bytes.indices.map { bytes[$0] }
    }

    private static func look(at grants: GrantsView) {
        for index in 0..<min(grants.count, 64) {
            _ = grants.grant(at: index).latestStop
            _ = grants.transactionID(at: index).count
            _ = grants.originalTransactionID(at: index).count
            _ = grants.endOfRest(after: index)
        }
    }

    /// What the table says of a check is what the view of the same bytes says.
    private static func compare(
        _ snapshot: [UInt8], _ product: [UInt8], at instant: Int64, _ now: Int64
    ) throws {
        let table = CustomerTable(customerCount: 4, byteCountMax: 1 << 20, readerCount: 1)
        table.put(scope: 1, name: name, snapshot: snapshot)
        let reader = table.makeReader()
        table.beginReading(reader)
        defer { table.endReading(reader) }
        let text = name + product
        var question = ProductQuestion()
        question.name = TextRange(start: 0, count: UInt16(name.count))
        question.product = TextRange(start: UInt32(name.count), count: UInt16(product.count))
        question.hash = table.hash(scope: 1, name: name.span)
        question.scope = 1
        question.instant = instant
        question.isForMemory = true
        let questions = [question]
        var verdicts = [ProductVerdict()]
        var span = verdicts.mutableSpan
        table.decide(
            questions.span, 0..<1, in: text.span, at: now, isComplete: true, under: catalog,
            reader: reader, into: &span)
        let verdict = verdicts[0]
        let view = SnapshotView(snapshot.span)
        guard
            let answer = view.answer(
                ofProduct: product.span, at: instant, orNow: now, under: catalog, in: 0)
        else {
            return try expect(verdict.reason == .noPurchase, "a purchase from nowhere")
        }
        guard verdict.isAnswered else { return }
        try expect(
            verdict.reason == answer.decision.reason && verdict.ownership == answer.ownership
                && verdict.validUntil == answer.decision.validUntil
                && copy(verdict.transactionID) == copy(answer.transactionID)
                && copy(verdict.originalTransactionID) == copy(answer.originalTransactionID),
            "table \(verdict.reason) until \(verdict.validUntil), "
                + "view \(answer.decision.reason) until \(answer.decision.validUntil)")
    }
}
