import AppStore
import Entitlements
import Storage

// What comes in of somebody who was forgotten. Apple goes on to sign the app account token and the
// account with every renewal and refund. Of a chain that a forgotten customer holds they name
// nobody: the fact is taken in and counted, its names and bytes are not. Only the app brings such a
// chain back to a name, in so many words: by an upload or a link that says whose it is.

/// Facts of forgotten customers, without names.
struct NamelessFacts {
    var incoming: [IncomingTransaction] = []
    var renewals: [SignedRenewal] = []
    /// Who gets what nobody has; nil where somebody else was asked about.
    var claimant: CustomerKey?
}

extension Workspace {
    /// Whether a chain is one of somebody who was forgotten.
    private mutating func isForgotten(
        chain: String, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        guard forgottenCount > 0 else { return false }
        let record = try identity(Identity(.originalTransaction, chain), in: scope)
        for number in record.holders {
            let key = try person(CustomerKey(scope: scope, number: number))
            if customers[key]?.record.isForgotten == true { return true }
        }
        return false
    }

    /// The copies as they may come in: those of forgotten customers without names and bytes.
    mutating func nameless(
        _ incoming: [IncomingTransaction], in scope: ScopeNumber
    ) throws(LedgerFailure) -> [IncomingTransaction] {
        guard forgottenCount > 0 else { return incoming }
        var copies = incoming
        for index in copies.indices {
            let chain = copies[index].signed.transaction.originalTransactionID
            if try isForgotten(chain: chain, in: scope) { copies[index].removeNames() }
        }
        return copies
    }

    /// The same of renewal infos.
    mutating func nameless(
        _ renewals: [SignedRenewal], in scope: ScopeNumber
    ) throws(LedgerFailure) -> [SignedRenewal] {
        guard forgottenCount > 0 else { return renewals }
        var copies = renewals
        for index in copies.indices {
            let renewal = copies[index].renewal
            if try isForgotten(chain: renewal.originalTransactionID, in: scope) {
                copies[index] = SignedRenewal(renewal: renewal, payload: [])
            }
        }
        return copies
    }

    /// Whether a notification is about somebody who was forgotten, so that its bytes are not kept.
    mutating func isNameless(
        _ notification: Notification, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        guard forgottenCount > 0 else { return false }
        var chains = notification.hintedChains
        if let transaction = notification.transaction?.transaction {
            chains.append(transaction.originalTransactionID)
        }
        if let renewal = notification.renewal?.renewal {
            chains.append(renewal.originalTransactionID)
        }
        for chain in chains where try isForgotten(chain: chain, in: scope) { return true }
        return false
    }

    /// An answer of Apple's about `asked`, divided into what has names and what has none.
    ///
    /// One Apple Account's history tells of all its chains. Those of a forgotten customer stay his,
    /// whoever was asked about; and where he was asked about, those that came to somebody else
    /// since are left out: he is not to be found through them.
    mutating func divided(
        _ incoming: [IncomingTransaction], _ renewals: [SignedRenewal], asked: CustomerKey,
        in scope: ScopeNumber
    ) throws(LedgerFailure) -> (
        incoming: [IncomingTransaction], renewals: [SignedRenewal], nameless: NamelessFacts
    ) {
        var nameless = NamelessFacts()
        guard forgottenCount > 0 else { return (incoming, renewals, nameless) }
        let isAskedForgotten = customers[asked]?.record.isForgotten == true
        if isAskedForgotten { nameless.claimant = asked }
        var named: (incoming: [IncomingTransaction], renewals: [SignedRenewal]) = ([], [])
        for copy in incoming {
            let chain = copy.signed.transaction.originalTransactionID
            if try isNameless(chain, isAskedForgotten, in: scope) {
                var copy = copy
                copy.removeNames()
                nameless.incoming.append(copy)
            } else if !isAskedForgotten {
                named.incoming.append(copy)
            }
        }
        for renewal in renewals {
            let chain = renewal.renewal.originalTransactionID
            if try isNameless(chain, isAskedForgotten, in: scope) {
                nameless.renewals.append(SignedRenewal(renewal: renewal.renewal, payload: []))
            } else if !isAskedForgotten {
                named.renewals.append(renewal)
            }
        }
        return (named.incoming, named.renewals, nameless)
    }

    private mutating func isNameless(
        _ chain: String, _ isAskedForgotten: Bool, in scope: ScopeNumber
    ) throws(LedgerFailure) -> Bool {
        if try isForgotten(chain: chain, in: scope) { return true }
        guard isAskedForgotten else { return false }
        return try related(to: [Identity(.originalTransaction, chain)], in: scope).isEmpty
    }

    /// Stores nameless facts one by one: that they came together makes their holders no one person.
    mutating func place(
        _ nameless: NamelessFacts, in scope: ScopeNumber, at clock: Timestamp
    ) throws(LedgerFailure) {
        for copy in nameless.incoming {
            let chain = copy.signed.transaction.originalTransactionID
            let isNew = try related(to: [Identity(.originalTransaction, chain)], in: scope).isEmpty
            _ = try place(
                [copy], renewals: [], in: scope, claimant: isNew ? nameless.claimant : nil,
                at: clock)
        }
        for renewal in nameless.renewals {
            _ = try place([], renewals: [renewal], in: scope, at: clock)
        }
    }
}

extension IncomingTransaction {
    /// Takes out whom the copy names, and its bytes, which name him too.
    fileprivate mutating func removeNames() {
        signed = SignedTransaction(transaction: signed.transaction.withoutNames, payload: [])
    }
}

extension Transaction {
    /// What counts of it: all but the token and the account. The line item stays: it tells which
    /// copies are one family's.
    var withoutNames: Transaction {
        var copy = self
        copy.appAccountToken = nil
        copy.appTransactionID = nil
        return copy
    }
}
