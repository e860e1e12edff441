package import Entitlements

/// What Apple's servers said of one Apple Account in one app, every item verified.
package struct AppleHistory: Hashable, Sendable {
    /// The newest status that Apple gives to a chain.
    package struct ChainStatus: Hashable, Sendable {
        /// The chain.
        package var originalTransactionID: String
        /// The transaction that came with the status.
        package var transactionID: String
        /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked; open.
        package var status: Int32
        /// When Apple signed what came with it: the date of this evidence.
        package var signedDate: Timestamp

        /// A status.
        package init(
            originalTransactionID: String, transactionID: String, status: Int32,
            signedDate: Timestamp
        ) {
            self.originalTransactionID = originalTransactionID
            self.transactionID = transactionID
            self.status = status
            self.signedDate = signedDate
        }
    }

    /// An item that was not believed.
    package struct Problem: Hashable, Sendable {
        /// What was wrong with it.
        package var error: AppStoreError
        /// Where it stood, for people: never a payload.
        package var place: String

        /// A problem.
        package init(error: AppStoreError, place: String) {
            self.error = error
            self.place = place
        }
    }

    /// The world that was asked.
    package var scope: Scope
    /// The copies in the order of Apple's pages; one id may come twice.
    package var transactions: [SignedTransaction]
    /// Renewal infos, from the statuses.
    package var renewals: [SignedRenewal]
    /// Statuses of every chain of every group.
    package var statuses: [ChainStatus]
    /// Items that were not believed; the others stand.
    package var problems: [Problem]
    /// Items that Apple's pages held, believed or not.
    package var itemCount: Int

    /// An empty history.
    package init(scope: Scope) {
        self.scope = scope
        transactions = []
        renewals = []
        statuses = []
        problems = []
        itemCount = 0
    }
}
