internal import Entitlements

/// One Apple Account in one app and environment, named by its appTransactionId.
struct StandInAccountID: Hashable {
    var environment: StandInEnvironment
    var appTransactionID: String
}

/// A purchase as Apple knows it today.
struct StandInPurchase {
    var claims: FixtureJSON
    /// The place in the order of "last modified".
    var changeNumber: Int
    /// Whether its copies are handed out with a broken signature.
    var isDamaged = false
}

/// What Apple knows of an account.
struct StandInAccountState {
    /// In the order of their coming; an id once.
    var purchases: [StandInPurchase] = []
    /// By chain; what differs from a subscription that will renew.
    var renewalChanges: [String: [(name: String, value: FixtureJSON?)]] = [:]
    /// By chain; where Apple's own word differs from what the dates say.
    var statuses: [String: Int64] = [:]

    func index(of transactionID: String) -> Int? {
        purchases.firstIndex { $0.claims.string("transactionId") == transactionID }
    }

    /// Whether a transaction or chain of this id is in it.
    func knows(_ id: String) -> Bool {
        purchases.contains {
            $0.claims.string("transactionId") == id
                || $0.claims.string("originalTransactionId") == id
        }
    }
}

/// An account of a stand-in App Store: what happens to it is what a family or Apple does.
package struct StandInAccount: Sendable {
    private let appStore: StandInAppStore
    private let id: StandInAccountID

    init(_ appStore: StandInAppStore, _ id: StandInAccountID) {
        self.appStore = appStore
        self.id = id
    }

    /// The account's appTransactionId.
    package var appTransactionID: String { id.appTransactionID }

    /// Adds a purchase, or replaces the one of the same transactionId.
    ///
    /// - Parameter claims: As `SignedFixtures.transactionClaims` makes them. The environment and,
    ///   where absent, the appTransactionId are set. A copy is signed when it is handed out.
    package func add(_ claims: FixtureJSON) {
        var claims = claims
        claims["environment"] = .string(id.environment.rawValue)
        if claims["appTransactionId"] == nil {
            claims["appTransactionId"] = .string(id.appTransactionID)
        }
        let purchase = claims
        withState { state, changeNumber in
            let added = StandInPurchase(claims: purchase, changeNumber: changeNumber)
            if let index = purchase.string("transactionId").flatMap(state.index) {
                state.purchases[index] = added
            } else {
                state.purchases.append(added)
            }
        }
    }

    /// Changes members of a purchase; it moves to the end of the order of "last modified".
    ///
    /// - Parameters:
    ///   - transactionID: One that was added; nothing happens for any other.
    ///   - changes: By name; nil removes a member.
    package func change(_ transactionID: String, _ changes: FixtureChanges) {
        withState { state, changeNumber in
            guard let index = state.index(of: transactionID) else { return }
            state.purchases[index].claims = state.purchases[index].claims.changed(changes)
            state.purchases[index].changeNumber = changeNumber
        }
    }

    /// Refunds a purchase, or ends the sharing of a family copy.
    ///
    /// - Parameters:
    ///   - transactionID: One that was added.
    ///   - instant: revocationDate, milliseconds since 1970.
    ///   - reason: revocationReason.
    ///   - type: revocationType; left out when nil.
    package func revoke(
        _ transactionID: String, at instant: Int64, reason: Int64 = 0, type: String? = nil
    ) {
        change(
            transactionID,
            [
                "revocationDate": .integer(instant), "revocationReason": .integer(reason),
                "revocationType": type.map { .string($0) },
            ])
    }

    /// Takes a refund or the end of sharing back: the copies carry no revocation any more.
    package func reinstate(_ transactionID: String) {
        change(
            transactionID,
            ["revocationDate": nil, "revocationReason": nil, "revocationType": nil])
    }

    /// Hands out copies of a purchase with a broken signature from now on, or whole ones again.
    package func damage(_ transactionID: String, _ isDamaged: Bool = true) {
        withState { state, _ in
            if let index = state.index(of: transactionID) {
                state.purchases[index].isDamaged = isDamaged
            }
        }
    }

    /// Says what Get All Subscription Statuses answers for a chain, whatever its dates say.
    ///
    /// - Parameters:
    ///   - chain: originalTransactionId.
    ///   - status: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    package func setStatus(of chain: String, to status: Int64) {
        withState { state, _ in state.statuses[chain] = status }
    }

    /// Changes members of a chain's renewal info.
    package func changeRenewal(of chain: String, _ changes: FixtureChanges) {
        let copy = changes.map { (name: $0.key, value: $0.value) }
        withState { state, _ in state.renewalChanges[chain, default: []] += copy }
    }

    /// The newest copy of a purchase, signed now.
    ///
    /// - Returns: A compact JWS; nil for an id that was not added.
    package func signedTransaction(_ transactionID: String) -> [UInt8]? {
        let purchase = appStore.withState { state -> StandInPurchase? in
            guard let account = state.accounts[id] else { return nil }
            return account.index(of: transactionID).map { account.purchases[$0] }
        }
        return purchase.flatMap { appStore.signed($0) }
    }

    private func withState(_ body: (inout StandInAccountState, _ changeNumber: Int) -> Void) {
        appStore.withState { state in
            state.changeCount += 1
            body(&state.accounts[id, default: StandInAccountState()], state.changeCount)
        }
    }
}

extension StandInAppStore {
    /// An account, with nothing bought where it is new.
    ///
    /// - Parameters:
    ///   - appTransactionID: Its name.
    ///   - environment: Its world; accounts of the same name in both are two.
    /// - Returns: The account.
    package func account(
        _ appTransactionID: String, in environment: StandInEnvironment = .production
    ) -> StandInAccount {
        let id = StandInAccountID(environment: environment, appTransactionID: appTransactionID)
        withState { state in
            if state.accounts[id] == nil { state.accounts[id] = StandInAccountState() }
        }
        return StandInAccount(self, id)
    }

    /// A copy as it is handed out: signed now, unless its claims fix `signedDate` with ``frozen``.
    func signed(_ purchase: StandInPurchase) -> [UInt8]? {
        var claims = purchase.claims
        if claims[Self.frozen] == nil {
            claims["signedDate"] = .integer(clock())
        } else {
            claims[Self.frozen] = nil
        }
        guard var jws = sign(claims) else { return nil }
        // The signature's last character but one: still Base64URL, and another signature.
        if purchase.isDamaged {
            let index = jws.count - 2
            jws[index] = jws[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        }
        return jws
    }

    /// A member that keeps the `signedDate` of the claims; it is not handed out.
    package static let frozen = "standInKeepsSignedDate"
}

extension FixtureJSON {
    /// The text of a member that is a string.
    func string(_ name: String) -> String? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    /// The number of a member that is one.
    func integer(_ name: String) -> Int64? {
        if case .integer(let number)? = self[name] { number } else { nil }
    }
}
