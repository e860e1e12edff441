internal import EntitledClient

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
        if let entitlement, answer.reason == .familyRefunded || answer.reason == .refunded {
            return entitlement.isCauseCertain
        }
        return true
    }

    var sentences: [String] {
        var sentences = answer.isGranted ? granted : denied
        if !answer.isGranted, cause == .refund || cause == .departure {
            sentences.append(paymentSentence)
        }
        return sentences
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
        case .familySuspended:
            [
                "The purchase that this household shares was refunded\(endedOn), and no other"
                    + " purchase of the household covers it.",
                "Access comes back if the refund is reversed, or when Apple confirms this person's"
                    + " own share.",
            ]
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
            ]
        }
        return [
            "The access was shared through Family Sharing. The person who paid got the money"
                + " back, and with the refund the shared access ended\(endedOn).",
            "This customer did nothing to cause it.",
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
