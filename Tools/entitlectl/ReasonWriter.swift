internal import EntitledClient
internal import ToolSupport

/// The sentences for each reason, and what kind of event stands behind it.
struct ReasonWriter {
    let answer: AccessAnswer
    /// The transaction that decided; nil when there is none or the server did not show it.
    let deciding: TransactionRecord?
    /// What the server says of the same product now, for the same reason.
    let entitlement: Entitlement?

    var cause: Explanation.Cause {
        switch answer.reason {
        case .active, .gracePeriod: .none
        case .refunded, .familyRefunded, .familySuspended: .refund
        case .familyLeft, .assignmentEnded: .departure
        case .expired, .billingRetry, .notStarted: .time
        case .unknownCustomer, .noPurchase: .nothingBought
        default: .other
        }
    }

    var isPaymentReversed: Bool {
        if let entitlement { return entitlement.isPaymentReversed }
        return cause == .refund
    }

    var isCauseCertain: Bool {
        guard let entitlement else { return true }
        switch answer.reason {
        case .refunded, .familyRefunded: return entitlement.isCauseCertain
        // A server before families were matched says nothing of how they were found.
        case .familySuspended:
            return entitlement.isCauseCertain || entitlement.familyConfidence == .declared
                || entitlement.familyConfidence == .unspecified
        default: return true
        }
    }

    var sentences: [String] {
        var sentences = answer.isGranted ? granted : denied
        if !answer.isGranted, cause == .refund || cause == .departure {
            sentences.append(paymentSentence)
        }
        return sentences
    }

    /// For support, not for the customer: the payment behind the access went back, and the access
    /// goes on. Empty where it stands.
    var attention: [String] {
        guard answer.isGranted, let entitlement, !entitlement.familyTransactionID.isEmpty else {
            return []
        }
        let first =
            entitlement.familyConfidence == .declared
            ? "The purchase that this household shares (\(entitlement.familyTransactionID)) was"
                + " refunded, and the access goes on: nobody pays for it."
            : "The purchase that this was most likely shared from was refunded, and the access"
                + " goes on: nobody pays for it."
        return [first] + purchaseSentence + [
            "No message from Apple has ended this copy. It may have been lost, or this person may"
                + " have another share: `entitlectl rebuild` asks Apple."
        ]
    }

    private var granted: [String] {
        var sentences = [ownershipSentence]
        if answer.reason == .gracePeriod {
            sentences.append(
                "The last renewal could not be charged; Apple asks to keep access up while it"
                    + " tries again.")
        }
        if let until = answer.validUntilMilliseconds {
            sentences.append("As things stand it lasts until \(Instant.sentence(until)).")
        } else {
            sentences.append("As things stand it does not end by itself.")
        }
        return sentences
    }

    private var ownershipSentence: String {
        switch answer.ownership {
        case .purchased: "It was bought by this Apple account\(boughtOn)."
        case .familyShared:
            "Somebody in the family bought it and shares it through Family Sharing\(boughtOn)."
        case .assigned: "An organisation gave this account a seat\(boughtOn)."
        default: "A valid transaction gives access\(boughtOn)."
        }
    }

    private var boughtOn: String {
        deciding.map { " (bought on \(Instant.sentence($0.purchaseDateMilliseconds)))" } ?? ""
    }

    private var denied: [String] {
        switch answer.reason {
        case .unknownCustomer: ["Nothing is known under this name: no purchase has arrived for it."]
        case .noPurchase: ["No purchase of it has arrived for this customer."]
        case .refunded:
            [
                "Apple gave the payment back to this customer\(endedOn); with the refund the access"
                    + " ended."
            ]
        case .familyRefunded: familyRefunded
        case .familyLeft: familyLeft
        case .familySuspended: familySuspended
        case .assignmentEnded: ["The organisation took the seat back\(endedOn)."]
        default: deniedOtherwise
        }
    }

    private var deniedOtherwise: [String] {
        switch answer.reason {
        case .expired: ["The paid time is over\(paidUntil)."]
        case .billingRetry:
            [
                "The paid time is over\(paidUntil) and the renewal could not be charged; "
                    + "Apple goes on trying. Updating the payment method brings access back."
            ]
        case .upgraded: ["It was replaced by another plan of the same group."]
        case .notStarted: ["The purchase begins later\(boughtOn)."]
        case .notShareable:
            [
                "The purchase was made by somebody else, and this kind of product cannot be shared."
            ]
        case .consumable: ["It is a consumable; those are used up and give no lasting access."]
        case .incomplete:
            [
                "The signed data of the purchase lack what a verdict needs; "
                    + "the operator's catalog may have to name the product."
            ]
        default: ["The server gives the reason \(answer.reason.name), which this tool cannot name."]
        }
    }

    private var familyRefunded: [String] {
        guard isCauseCertain else {
            return [
                "Apple ended the access that was shared through Family Sharing\(endedOn).",
                "Most likely the person who paid got the money back. The signed data do not say"
                    + " so in so many words: leaving the family group, or switching sharing off,"
                    + " can look the same.",
            ] + purchaseSentence
        }
        return [
            "The access was shared through Family Sharing. The person who paid got the money"
                + " back, and with the refund the shared access ended\(endedOn).",
            "This customer did nothing to cause it.",
        ]
    }

    private var familySuspended: [String] {
        let first =
            isCauseCertain
            ? "The purchase that this household shares was refunded\(endedOn), and no other"
                + " purchase of the household covers it."
            : "The purchase that this was most likely shared from was refunded\(endedOn)."
        return [first] + purchaseSentence + [
            "Access comes back if the refund is reversed, or when Apple confirms this person's"
                + " own share."
        ]
    }

    /// How the purchase is known; nothing where the server names none.
    private var purchaseSentence: [String] {
        guard let entitlement, entitlement.familyConfidence != .unspecified,
            entitlement.familyConfidence != .declared
        else { return [] }
        let id = entitlement.familyTransactionID
        return [
            "Apple publishes no link between the two; \(entitlement.familyConfidence.sentence)"
                + (id.isEmpty ? "." : " (the purchase is \(id)).")
        ]
    }

    private var familyLeft: [String] {
        var sentences = [
            "The access was shared through Family Sharing, and it is shared with this customer no"
                + " longer\(endedOn): the family group was left, or sharing was switched off.",
            "Joining again, or sharing again, brings the access back.",
        ]
        if deciding?.isOverridden == true {
            sentences.append("Apple's message named no date; the day it was signed counts.")
        }
        return sentences
    }

    private var paymentSentence: String {
        if !isPaymentReversed { return "No payment went back to anybody." }
        let who =
            answer.ownership == .purchased
            ? "this customer" : "the person who paid, not to this customer"
        return isCauseCertain
            ? "A payment went back to \(who)." : "A payment probably went back to \(who)."
    }

    private var endedOn: String {
        let instant = entitlement?.revokedAtMilliseconds ?? deciding?.revocationDateMilliseconds
        return instant.map { " on \(Instant.sentence($0))" } ?? ""
    }

    private var paidUntil: String {
        deciding?.expiresDateMilliseconds.map { " since \(Instant.sentence($0))" } ?? ""
    }
}
