package import Entitlements

/// Whom a name belongs to.
package struct IdentityRecord: Hashable, Sendable {
    /// The customer to whom it was linked in so many words; 0 when it was not.
    package var said: UInt64
    /// The customer to whom it was moved since; 0 when it was not.
    package var moved: UInt64
    /// The revision of that move.
    package var movedAt: UInt64
    /// The customer that a question under this name is about.
    package var primary: UInt64
    /// The customers that hold a transaction which carries it, ascending.
    package var holders: [UInt64]

    /// A name that nobody has.
    package init(
        said: UInt64 = 0, moved: UInt64 = 0, movedAt: UInt64 = 0, primary: UInt64 = 0,
        holders: [UInt64] = []
    ) {
        self.said = said
        self.moved = moved
        self.movedAt = movedAt
        self.primary = primary
        self.holders = holders
    }
}

/// What is known of a customer besides facts.
package struct CustomerRecord: Hashable, Sendable {
    /// The app backend's own user id; empty while nobody has said who it is.
    package var name: String
    /// The declared household; empty without one.
    package var household: String
    /// The customer that this one was merged into; 0 while it stands for itself.
    package var mergedInto: UInt64
    /// The revision that changed anything of this customer last.
    package var revision: UInt64
    /// Whether other named customers share identities with him, by facts or by words: then who owns
    /// what is decided over all of them.
    package var isEntangled: Bool
    /// Whether his snapshot is one of a long history, so that an event need not read all facts.
    package var isLong: Bool
    /// Whether he was forgotten: what comes in of his purchases is counted, and names nobody.
    package var isForgotten: Bool

    /// A customer of this name, or a provisional one.
    package init(
        name: String = "", household: String = "", mergedInto: UInt64 = 0, revision: UInt64 = 0,
        isEntangled: Bool = false, isLong: Bool = false, isForgotten: Bool = false
    ) {
        self.name = name
        self.household = household
        self.mergedInto = mergedInto
        self.revision = revision
        self.isEntangled = isEntangled
        self.isLong = isLong
        self.isForgotten = isForgotten
    }
}

/// A notification that was stored, without its payload.
package struct NotificationRecord: Hashable, Sendable {
    /// Apple's unique id.
    package var notificationUUID: String
    /// Apple's name of the type.
    package var type: String
    /// Apple's name of the subtype; empty when absent.
    package var subtype: String
    /// When Apple signed it.
    package var signedDate: Timestamp
    /// When it reached us, by our clock.
    package var receivedAt: Timestamp
    /// What became of it.
    package var disposition: Disposition
    /// The transaction that it names; empty when none.
    package var transactionID: String
    /// The revision that stored it.
    package var revision: UInt64

    /// A stored notification.
    package init(
        notification: Notification, receivedAt: Timestamp, disposition: Disposition,
        revision: UInt64
    ) {
        notificationUUID = notification.notificationUUID
        type = notification.type
        subtype = notification.subtype
        signedDate = notification.signedDate
        self.receivedAt = receivedAt
        self.disposition = disposition
        transactionID = notification.transaction?.transaction.transactionID ?? ""
        self.revision = revision
    }

    init(
        notificationUUID: String, type: String, subtype: String, signedDate: Timestamp,
        receivedAt: Timestamp, disposition: Disposition, transactionID: String, revision: UInt64
    ) {
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.signedDate = signedDate
        self.receivedAt = receivedAt
        self.disposition = disposition
        self.transactionID = transactionID
        self.revision = revision
    }
}

/// Something that people said or that contradicts what they said; append-only.
package struct AuditRecord: Hashable, Sendable {
    /// When, by our clock.
    package var at: Timestamp
    /// What happened: LINKED, TRANSFERRED, IDENTITY_CONFLICT, HOUSEHOLD_JOINED, HOUSEHOLD_LEFT,
    /// MERGED, REBUILT, DATELESS_REVOKE_IGNORED, FORGOTTEN.
    package var action: String
    /// The customer whom it concerns.
    package var customer: String
    /// The names involved, for a person to read; never a payload.
    package var detail: String

    /// An audit entry.
    package init(at: Timestamp, action: String, customer: String, detail: String) {
        self.at = at
        self.action = action
        self.customer = customer
        self.detail = detail
    }
}
