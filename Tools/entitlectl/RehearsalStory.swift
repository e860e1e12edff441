internal import EntitledClient
internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

/// The story: what happens to the family, and what is right after every step.
struct RehearsalStory {
    /// What only a server of the drill's own allows.
    struct Stage {
        /// To be ended and started again.
        let server: RehearsalServer
        /// What is played beside it; it signs as the story does.
        let apple: RehearsalAppStore
    }

    var drill: Rehearsal
    /// nil where the server is not ours.
    let stage: Stage?
    /// Signs what nobody trusts.
    let stranger: RehearsalAuthority
    /// Whether the server can ask Apple.
    var asksApple = false
    /// The newest shared copies, by user id.
    var shared: [Product: [String: Purchase]] = [:]
    private var bought: Purchase?
    /// Dan's own purchase.
    var ownOfDan: Purchase?

    var cast: Cast { drill.cast }

    init(drill: Rehearsal, stranger: RehearsalAuthority, stage: Stage?) {
        self.drill = drill
        self.stranger = stranger
        self.stage = stage
    }

    /// Plays all acts in order.
    ///
    /// - Throws: `CommandFailure` when the drill cannot go on.
    mutating func play() async throws(CommandFailure) {
        try await meet()
        try await buy()
        try await refundBuyer()
        try await repeatDeliveries()
        try await reverseRefund()
        try await depart()
        try await buyAlone()
        try await rejoin()
        try await survivePowerCut()
        try await loseRevoke()
        try await cutHousehold()
        try await refuseForgeries()
        if let stage {
            try await playWithApple(stage)
        } else {
            drill.leaveOut([Self.powerCut] + Self.actsWithApple)
        }
    }

    private static let powerCut = "The power fails: the server is killed and starts again"

    // MARK: Signing

    /// Hands in one notification about a purchase; signed now where no instant is given.
    mutating func notify(
        _ title: String, _ type: String, _ purchase: Purchase, subtype: String? = nil,
        revoked: RevocationClaims? = nil, status: Int64? = nil, signed: Int64? = nil,
        change: (inout Rehearsal) -> Void
    ) async throws(CommandFailure) {
        let signed = signed ?? drill.nextSigning()
        let body = try drill.desk.body(
            type, subtype: subtype, uuid: Self.uuid(), signed: signed,
            copy: try drill.desk.copy(of: purchase, signed: signed, revoked: revoked),
            status: status)
        try await tellApple(purchase, revoked: revoked)
        try await drill.step(title, purchase.product, .ingest(body, .applied), change: change)
    }

    /// Before Apple notifies, its history says so.
    func tellApple(
        _ purchase: Purchase, revoked: RevocationClaims? = nil
    ) async throws(CommandFailure) {
        // A fetch under way must not be the one that brings it.
        if asksApple { try await drill.untilSettled() }
        stage?.apple.note(purchase, revoked: revoked)
    }

    static func uuid() -> String { UUID().uuidString.lowercased() }

    func share(
        _ person: Person, of product: Product = .lifetime
    ) throws(CommandFailure) -> Purchase {
        guard let purchase = shared[product]?[person.userID] else {
            throw CommandFailure(.failed, "the story has no shared purchase of \(person.name)")
        }
        return purchase
    }

    private func purchase() throws(CommandFailure) -> Purchase {
        guard let bought else { throw CommandFailure(.failed, "the story has no purchase") }
        return bought
    }

    /// The date of a revocation: a little before Apple signs it, and after all that was signed.
    func revocation(type: String? = nil, reason: Int64 = 0) -> RevocationClaims {
        var drill = drill
        return RevocationClaims(
            dateMilliseconds: drill.nextSigning() - drill.revocationLeadMilliseconds,
            reason: reason, type: type)
    }

    // MARK: Acts

    private mutating func meet() async throws(CommandFailure) {
        drill.begin("Seven people, nothing bought")
        for person in cast.all where person != cast.finn {
            try await drill.step(
                "the app says who \(person.name) is", .lifetime,
                .link(
                    CustomerLink(
                        customerID: person.userID,
                        identity: .appTransaction(person.appTransactionID)))
            ) { drill in
                for product in Product.allCases { drill.set(person, product, .noPurchase) }
            }
        }
    }

    private mutating func buy() async throws(CommandFailure) {
        drill.begin("Anna buys for the family; the copies of the others arrive later, in any order")
        var purchase = drill.purchase(of: .lifetime, by: cast.anna, isShared: false)
        purchase.appAccountToken = Self.uuid()
        bought = purchase
        try await notify("Anna buys", "ONE_TIME_CHARGE", purchase) {
            $0.set($0.cast.anna, .lifetime, .active, .purchased)
        }
        let alone = drill.purchase(of: .lifetime, by: cast.gita, isShared: false)
        try await notify("Gita, next door, buys for herself", "ONE_TIME_CHARGE", alone) {
            $0.set($0.cast.gita, .lifetime, .active, .purchased)
        }
        for person in [cast.eva, cast.ben, cast.finn, cast.dan, cast.cleo] {
            let copy = drill.purchase(
                of: .lifetime, by: person, isShared: true)
            shared[.lifetime, default: [:]][person.userID] = copy
            try await notify("\(person.name)'s shared copy arrives", "ONE_TIME_CHARGE", copy) {
                $0.set(person, .lifetime, .active, .familyShared)
                guard person == $0.cast.finn else { return }
                for other in Product.allCases where other != .lifetime {
                    $0.set(person, other, .noPurchase)
                }
            }
        }
        let finn = cast.finn
        try await drill.step(
            "only now the app says who Finn is", .lifetime,
            .link(
                CustomerLink(
                    customerID: finn.userID, identity: .appTransaction(finn.appTransactionID))))
    }

    private mutating func refundBuyer() async throws(CommandFailure) {
        drill.begin("Anna gets her money back; each of the others goes with his own REVOKE")
        try await notify(
            "Anna is refunded", "REFUND", try purchase(), revoked: revocation(reason: 1)
        ) { $0.set($0.cast.anna, .lifetime, .refunded, .purchased) }
        for person in [cast.cleo, cast.finn, cast.ben, cast.eva, cast.dan] {
            try await notify(
                "\(person.name)'s REVOKE arrives", "REVOKE", try share(person),
                revoked: revocation()
            ) { $0.set(person, .lifetime, .familyRefunded, .familyShared) }
        }
    }

    private mutating func repeatDeliveries() async throws(CommandFailure) {
        drill.begin("Late and repeated deliveries change nothing")
        let person = cast.ben
        let revoked = revocation()
        let signed = drill.nextSigning()
        let copy = try drill.desk.copy(of: try share(person), signed: signed, revoked: revoked)
        let body = try drill.desk.body("REVOKE", uuid: Self.uuid(), signed: signed, copy: copy)
        try await drill.step(
            "Ben's REVOKE, signed anew", .lifetime, .ingest(body, .applied))
        try await drill.step(
            "the same delivery once more", .lifetime, .ingest(body, .duplicate))
        let again = try drill.desk.body("REVOKE", uuid: Self.uuid(), signed: signed, copy: copy)
        try await drill.step(
            "the same facts under another notificationUUID", .lifetime, .ingest(again, .stale))
        let old = try share(person).purchasedMilliseconds + 60_000
        let first = try drill.desk.body(
            "ONE_TIME_CHARGE", uuid: Self.uuid(), signed: old,
            copy: try drill.desk.copy(of: try share(person), signed: old))
        try await drill.step(
            "Ben's first notification, a month late", .lifetime, .ingest(first, .stale))
    }

    private mutating func reverseRefund() async throws(CommandFailure) {
        drill.begin("Apple takes the refund back")
        try await notify("Anna's refund is reversed", "REFUND_REVERSED", try purchase()) {
            $0.set($0.cast.anna, .lifetime, .active, .purchased)
        }
        for person in cast.members {
            try await notify(
                "\(person.name) is shared with again", "ONE_TIME_CHARGE", try share(person)
            ) { $0.set(person, .lifetime, .active, .familyShared) }
        }
    }

    private mutating func depart() async throws(CommandFailure) {
        drill.begin("Two leave the family: no payment goes back, nobody else is touched")
        let (ben, cleo) = (cast.ben, cast.cleo)
        try await notify(
            "Ben leaves; Apple's REVOKE names no date", "REVOKE", try share(ben)
        ) { $0.set(ben, .lifetime, .familyLeft, .familyShared) }
        try await notify(
            "Cleo leaves; Apple says FAMILY_REVOKE", "REVOKE", try share(cleo),
            revoked: revocation(type: "FAMILY_REVOKE")
        ) { $0.set(cleo, .lifetime, .familyLeft, .familyShared) }
    }

    private mutating func buyAlone() async throws(CommandFailure) {
        drill.begin("Dan has bought it himself: losing the shared copy costs him nothing")
        let dan = cast.dan
        let own = drill.purchase(of: .lifetime, by: dan, isShared: false)
        ownOfDan = own
        try await notify("Dan buys it himself", "ONE_TIME_CHARGE", own) {
            $0.set(dan, .lifetime, .active, .purchased)
        }
        try await notify(
            "Dan's shared copy is revoked", "REVOKE", try share(dan),
            revoked: revocation(type: "FAMILY_REVOKE")
        ) { $0.set(dan, .lifetime, .active, .purchased) }
    }

    private mutating func rejoin() async throws(CommandFailure) {
        drill.begin("The two come back")
        let (ben, cleo) = (cast.ben, cast.cleo)
        let old = drill.nextSigning()
        let oldBody = try drill.desk.body(
            "REVOKE", uuid: Self.uuid(), signed: old,
            copy: try drill.desk.copy(of: try share(ben), signed: old))
        try await notify(
            "Ben rejoins with the same transaction", "ONE_TIME_CHARGE", try share(ben)
        ) { $0.set(ben, .lifetime, .active, .familyShared) }
        // Newer than the REVOKE that was known, older than the return: evidence, but no effect.
        try await drill.step(
            "a REVOKE signed before his return arrives late", .lifetime,
            .ingest(oldBody, .applied))
        let second = drill.purchase(
            of: .lifetime, by: cleo, isShared: true, boughtSecondsLater: 86_400)
        shared[.lifetime, default: [:]][cleo.userID] = second
        try await notify(
            "Cleo rejoins with a new transaction", "ONE_TIME_CHARGE", second
        ) { $0.set(cleo, .lifetime, .active, .familyShared) }
    }

    private mutating func survivePowerCut() async throws(CommandFailure) {
        guard let stage else { return }
        drill.begin(Self.powerCut)
        await stage.server.kill()
        try await stage.server.start()
        try await drill.step("nothing that was answered is lost", .lifetime, .lookAfterRestart)
        try await drill.step("and the subscription", .plus, .look)
    }

    private mutating func loseRevoke() async throws(CommandFailure) {
        drill.begin("A REVOKE is lost: Finn stays in, until the app says who the household is")
        try await notify(
            "Anna is refunded again", "REFUND", try purchase(),
            revoked: revocation(type: "REFUND_FULL")
        ) { $0.set($0.cast.anna, .lifetime, .refunded, .purchased) }
        for person in [cast.ben, cast.cleo, cast.eva] {
            try await notify(
                "\(person.name)'s REVOKE arrives", "REVOKE", try share(person),
                revoked: revocation()
            ) { $0.set(person, .lifetime, .familyRefunded, .familyShared) }
        }
        try await drill.step(
            "Finn's REVOKE never comes: he is still in on a refunded purchase", .lifetime, .look)
        let household = "smiths-\(cast.anna.userID)"
        for person in [cast.anna, cast.ben, cast.cleo, cast.eva, cast.finn] {
            try await drill.step(
                "the app says: \(person.name) lives with Anna", .lifetime,
                .link(CustomerLink(customerID: person.userID, household: .join(household)))
            ) { drill in
                if person == drill.cast.finn {
                    drill.set(person, .lifetime, .familySuspended, .familyShared)
                }
            }
        }
    }

    private mutating func cutHousehold() async throws(CommandFailure) {
        drill.begin("A declared household goes in one moment with the refund, before any REVOKE")
        let people = [cast.finn, cast.cleo, cast.eva, cast.ben]
        let purchase = drill.purchase(of: .plus, by: cast.anna, isShared: false)
        try await notify(
            "Anna subscribes", "SUBSCRIBED", purchase, subtype: "INITIAL_BUY", status: 1
        ) { $0.set($0.cast.anna, .plus, .active, .purchased) }
        for person in people {
            let copy = drill.purchase(of: .plus, by: person, isShared: true)
            shared[.plus, default: [:]][person.userID] = copy
            try await notify(
                "\(person.name)'s shared subscription arrives", "SUBSCRIBED", copy,
                subtype: "INITIAL_BUY", status: 1
            ) { $0.set(person, .plus, .active, .familyShared) }
        }
        try await notify(
            "Anna's subscription is refunded", "REFUND", purchase, revoked: revocation(), status: 5
        ) { drill in
            drill.set(drill.cast.anna, .plus, .refunded, .purchased)
            for person in people { drill.set(person, .plus, .familySuspended, .familyShared) }
        }
        let eva = cast.eva
        try await notify(
            "Eva's own REVOKE arrives later", "REVOKE", try share(eva, of: .plus),
            revoked: revocation(), status: 5
        ) { $0.set(eva, .plus, .familyRefunded, .familyShared) }
        try await notify(
            "Anna's refund is reversed", "REFUND_REVERSED", purchase, status: 1
        ) { drill in
            drill.set(drill.cast.anna, .plus, .active, .purchased)
            for person in people where person != eva {
                drill.set(person, .plus, .active, .familyShared)
            }
        }
    }

    private mutating func refuseForgeries() async throws(CommandFailure) {
        drill.begin("Forgeries are refused")
        let purchase = drill.purchase(of: .lifetime, by: cast.eva, isShared: false)
        let signed = drill.nextSigning()
        let copy = try drill.desk.copy(of: purchase, signed: signed)
        let foreign = try drill.desk.body(
            "ONE_TIME_CHARGE", uuid: Self.uuid(), signed: signed, copy: copy, by: stranger)
        try await drill.step(
            "a purchase for Eva, signed by a stranger", .lifetime,
            .forge(foreign, reason: "UNTRUSTED_CHAIN"))
        let refund = try drill.desk.body(
            "REFUND", uuid: Self.uuid(), signed: signed, copy: Self.tampered(copy))
        try await drill.step(
            "a genuine envelope around a copy that was changed", .lifetime,
            .forge(refund, reason: "BAD_SIGNATURE"))
        try await drill.step("Gita, next door, has noticed nothing", .lifetime, .look)
    }

    /// The same JWS with one character of its signature changed.
    private static func tampered(_ jws: String) -> String {
        guard let dot = jws.lastIndex(of: ".") else { return jws }
        let start = jws.index(after: dot)
        return jws[..<start] + (jws[start] == "A" ? "B" : "A") + jws[jws.index(after: start)...]
    }
}
