/// Bugs that are planted around the product, never in it, to see that the simulation would find
/// them: in the store below, in what leaves the server, or in what the transport passes on.
package enum Canary: String, CaseIterable, Sendable {
    /// The store acknowledges a batch that is not synced; a crash loses it.
    case acknowledgeBeforeSync
    /// A crash loses the last batch, although it was synced.
    case loseLastBatch
    /// A crash in the middle of a commit leaves half of the batch.
    case tearBatch
    /// The store forgets which notifications it has seen.
    case forgetNotifications
    /// The first answer after a write is what it was before, with the new revision.
    case staleAnswer
    /// A REVOKE denies the product, whatever else the customer holds.
    case revokeAsSwitch
    /// A household's cut reaches its members one answer late.
    case lateCut
    /// One answer in a hundred is sent twice.
    case answerTwice
    /// Two answers that leave together have their ids exchanged.
    case exchangeAnswers
    /// A check that waits for a revision is forgotten.
    case dropParkedCheck
    /// A commit's answer is lost where another follows it.
    case loseAnswer
    /// An answer says a revision that is not there yet.
    case claimNextRevision

    /// What must be able to go wrong for the bug to show.
    var neededFaults: Set<FaultKind> {
        switch self {
        case .acknowledgeBeforeSync, .loseLastBatch, .tearBatch: [.crashes]
        case .forgetNotifications, .staleAnswer, .revokeAsSwitch, .lateCut, .answerTwice,
            .exchangeAnswers, .dropParkedCheck, .loseAnswer, .claimNextRevision:
            []
        }
    }

    /// What clients must do for the bug to show.
    var neededOperations: Set<OperationKind> {
        switch self {
        case .lateCut: [.share, .refund, .household, .link, .checkInstant]
        case .revokeAsSwitch: [.share, .datedRevoke, .link, .checkInstant, .renewal]
        case .dropParkedCheck: [.awaitRevision]
        case .forgetNotifications: [.resend]
        case .staleAnswer: [.checkInstant, .link, .renewal, .refund]
        case .tearBatch: [.link, .rebuild, .renewal]
        case .acknowledgeBeforeSync, .loseLastBatch, .answerTwice, .exchangeAnswers, .loseAnswer,
            .claimNextRevision:
            []
        }
    }
}
