package import Entitlements
import SnapshotTable
import Storage

// A long history as the customer's snapshot in layout 2, and back.

extension LongHistory {
    /// What CheckAccess reads of it, with what the next event needs behind it.
    var snapshot: [UInt8] {
        var arena: [UInt8] = []
        func place(_ text: String) -> TextRange {
            defer { arena.append(contentsOf: text.utf8) }
            return TextRange(start: UInt32(arena.count), count: UInt16(text.utf8.count))
        }
        var placed: [PlacedProduct] = []
        var grants: [PlacedGrant] = []
        var index = LongIndexRecord(
            transactionCount: UInt64(transactionCount), upgradedCount: UInt64(upgradedCount),
            leastAccount: leastAccount, leastChain: leastChain)
        let sorted = products.sorted { $0.key < $1.key }
        for (name, product) in sorted {
            let first = grants.count
            for (head, end) in zip(product.heads, product.ends) {
                grants.append(
                    PlacedGrant(
                        grant: head.grant, endOfRest: end, transactionID: place(head.transactionID),
                        originalTransactionID: place(head.chain)))
            }
            placed.append(PlacedProduct(name: place(name.text), grants: first..<grants.count))
            var known = LongIndexRecord.Product(
                isCut: product.isCut, restStop: product.restStop,
                restLineStart: product.restLineStart)
            known.heads = product.heads.map {
                LongIndexRecord.Head(signedDate: $0.signedDate, group: $0.group)
            }
            index.products.append(known)
        }
        index.chains = chains
        index.groups = groups
        func build(_ trailer: [UInt8]) -> [UInt8] {
            SnapshotBuilder.build(
                newestSignedDate: newestSignedDate, products: placed, grants: grants, arena: arena,
                layout: LongSnapshot.layout, trailer: trailer)
        }
        return build(
            LongSnapshot.trailer(
                horizons: sorted.map(\.value.horizon), index: RecordCodec.encode(index),
                offset: build([]).count))
    }

    /// The history in a stored snapshot; nil when it is none of a long one, or damaged.
    init?(snapshot: [UInt8]) {
        let view = SnapshotView(snapshot.span)
        guard view.isWellFormed, let bytes = view.longIndex,
            let index = try? RecordCodec.decodeLongIndex(bytes),
            index.products.count == view.productCount
        else { return nil }
        newestSignedDate = view.newestSignedDate
        transactionCount = Int(clamping: index.transactionCount)
        upgradedCount = Int(clamping: index.upgradedCount)
        leastAccount = index.leastAccount
        leastChain = index.leastChain
        chains = index.chains
        groups = index.groups
        for (number, known) in index.products.enumerated() {
            let grants = view.grants(ofProductAt: number)
            guard let name = text(view.productID(at: number)),
                grants.count == known.heads.count
            else { return nil }
            var product = Product(
                isCut: known.isCut, restStop: known.restStop, restLineStart: known.restLineStart)
            for position in 0..<grants.count {
                guard let id = text(grants.transactionID(at: position)),
                    let chain = text(grants.originalTransactionID(at: position))
                else { return nil }
                product.heads.append(
                    Head(
                        grant: grants.grant(at: position),
                        signedDate: known.heads[position].signedDate, transactionID: id,
                        chain: chain, group: known.heads[position].group))
            }
            products[name] = product
        }
    }
}

extension CustomerHistory {
    /// The snapshot of a long history, as a server stores it for whoever has these facts and no
    /// declared household; nil when the history is not long.
    package var longSnapshot: [UInt8]? {
        let limits = LongHistoryLimits()
        guard transactions.count > limits.transactionCountMax else { return nil }
        var facts = FactSet()
        // In the order of ids, as the store has them: any other order moves rows about.
        for (_, fact) in transactions.sorted(by: { $0.key < $1.key }) { facts.put(fact) }
        return LongHistory(Fold(facts, renewals: renewals), limits: limits)?.snapshot
    }
}
