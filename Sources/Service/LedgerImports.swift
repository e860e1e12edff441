import AppStore
import Entitlements
import Storage

// Facts that another server exported, taken in like any other facts: of several copies the one
// signed last counts, of several dates the newest. So rows may come in any order and more than
// once, and what is known here already gets no older by them.

extension Ledger {
    /// Takes in rows.
    mutating func apply(
        _ event: Event.Import, at clock: Timestamp
    ) throws(LedgerFailure) -> ImportReply {
        try apply(isDryRun: event.isDryRun, \.revision) { (ledger) throws(LedgerFailure) in
            try ledger.take(event, at: clock)
        }
    }

    private mutating func take(
        _ event: Event.Import, at clock: Timestamp
    ) throws(LedgerFailure) -> ImportReply {
        let scope = try number(of: event.scope)
        let learnt = workspace.learntFactCount
        var reply = ImportReply(
            problems: event.problems, learntCount: 0, changes: [], revision: workspace.revision)
        guard !event.rows.isEmpty else { return reply }
        let groups = event.groups
        var identities = carriedIdentities(
            event.rows.map { IncomingTransaction($0.transaction) }, event.rows.compactMap(\.renewal)
        )
        identities += groups.compactMap { $0.first?.customer }
        let involved = try workspace.related(to: identities, in: scope)
        reply.changes = try change(involved, at: clock, countsReasons: true) {
            (ledger) throws(LedgerFailure) in
            for group in groups { try ledger.place(group, in: scope, at: clock) }
            try ledger.queueFamilies(in: scope, at: clock)
        }
        for row in event.rows where try isElsewhere(row, in: scope) {
            let chain = row.transaction.transaction.originalTransactionID
            reply.problems.append(
                ImportProblem(
                    position: row.position,
                    refusal: Refusal(
                        .identityConflict,
                        "chain \(chain) belongs to another customer than \(row.customer.value)"),
                    isTakenIn: true))
        }
        reply.problems.sort { $0.position < $1.position }
        reply.learntCount = workspace.learntFactCount - learnt
        reply.revision = workspace.revision
        return reply
    }

    /// Places the rows of one customer, who gets what is nobody else's.
    ///
    /// That they came under one of Apple's names makes them one customer's as well, who has no
    /// other name yet.
    private mutating func place(
        _ rows: ArraySlice<Event.Import.Row>, in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) {
        guard let customer = rows.first?.customer else { return }
        let learnt = workspace.learntFactCount
        var claimant: CustomerKey?
        if customer.kind == .customer {
            claimant =
                try named(customer.value, in: scope)
                ?? workspace.makeCustomer(name: customer.value, in: scope)
        }
        if let claimant { try link(rows, to: claimant) }
        _ = try workspace.place(
            rows.map { IncomingTransaction($0.transaction, evidence: $0.evidence) },
            renewals: rows.compactMap(\.renewal), in: scope, claimant: claimant,
            alsoNamed: claimant == nil ? [customer] : [], at: clock)
        let news = workspace.learntFactCount - learnt
        guard news > 0, let row = rows.first else { return }
        let chain = Identity(
            .originalTransaction, row.transaction.transaction.originalTransactionID)
        let key = claimant == nil ? try workspace.claimants(of: [chain], in: scope).first : claimant
        guard let key else { return }
        workspace.audit("IMPORTED", of: key, detail: "new or changed: \(news)", at: clock)
    }

    /// Says of chains what was said of them, where nobody has said anything else here.
    private mutating func link(
        _ rows: ArraySlice<Event.Import.Row>, to claimant: CustomerKey
    ) throws(LedgerFailure) {
        for row in rows where row.isChainLinked {
            let chain = Identity(
                .originalTransaction, row.transaction.transaction.originalTransactionID)
            let record = try workspace.identity(chain, in: claimant.scope)
            if record.said == 0 { try workspace.say(chain, isOf: claimant) }
        }
    }

    /// Whether another customer than the named one of a row has its chain.
    private mutating func isElsewhere(
        _ row: Event.Import.Row, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        guard row.customer.kind == .customer else { return false }
        let owner = try named(row.customer.value, in: scope)
        let chain = Identity(
            .originalTransaction, row.transaction.transaction.originalTransactionID)
        let holders = try workspace.identity(chain, in: scope).holders
        return !holders.contains { $0 == owner?.number }
    }
}

extension Event.Import {
    /// The rows, those of one customer that stand side by side together.
    fileprivate var groups: [ArraySlice<Row>] {
        var groups: [ArraySlice<Row>] = []
        var rest = rows[...]
        while let customer = rest.first?.customer {
            let group = rest.prefix { $0.customer == customer }
            groups.append(group)
            rest = rest.dropFirst(group.count)
        }
        return groups
    }
}
