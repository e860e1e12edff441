internal import EntitledClient
internal import FoundationEssentials
internal import TestSupport
internal import ToolSupport

// The second half of the story: Apple's servers can be asked, and have something to say that no
// notification has told.

extension RehearsalStory {
    private static let lostRevoke = "A REVOKE that never came: Apple is asked, and Dan found"
    private static let bill = "The bill of two shared refunds, against what was played"
    private static let door = "Apple's door: notifications come by HTTP"
    private static let missed = "Notifications that never came: the server was down"
    private static let unseen = "A history that the server never saw is rebuilt from Apple's"
    private static let outage = "Apple throttles, then fails, in the middle of a rebuild"

    /// Their titles, in order.
    static let actsWithApple = [lostRevoke, bill, door, missed, unseen, outage]

    private static let day: Int64 = 86_400_000

    /// Plays them.
    mutating func playWithApple(_ stage: Stage) async throws(CommandFailure) {
        drill.enterThePresent()
        let line = try await loseRevokeForGood(stage)
        try await payTheBill(stage, atlas: line)
        try await comeThroughTheDoor(stage)
        try await missNotifications(stage)
        try await rebuildFromApple(stage)
        try await failInTheMiddle(stage)
    }

    /// Starts the server with a key for Apple.
    private mutating func start(_ stage: Stage, sweep: String) async throws(CommandFailure) {
        let flags = try stage.apple.flags(in: stage.server.directory, sweepInterval: sweep)
        // Metered often, so that the bill is soon complete.
        try await stage.server.start(
            flags + ["--http", "127.0.0.1:0", "--metering-interval", "100ms"])
        asksApple = true
    }

    /// Buys a product for Anna and shares it with `people`; signed now where no instant is given.
    private mutating func buy(
        _ product: Product, sharedWith people: [Person], signed: Int64? = nil
    ) async throws(CommandFailure) -> Purchase {
        let purchase = drill.purchase(of: product, by: cast.anna, isShared: false)
        try await notify(
            "Anna buys the \(product.title)", "ONE_TIME_CHARGE", purchase, signed: signed
        ) {
            $0.set($0.cast.anna, product, .active, .purchased)
        }
        for person in people {
            let copy = drill.purchase(of: product, by: person, isShared: true)
            shared[product, default: [:]][person.userID] = copy
            try await notify(
                "\(person.name)'s shared copy arrives", "ONE_TIME_CHARGE", copy, signed: signed
            ) {
                $0.set(person, product, .active, .familyShared)
            }
        }
        return purchase
    }

    // MARK: A REVOKE that never came

    /// - Returns: The refund, as the bill must show it.
    private mutating func loseRevokeForGood(
        _ stage: Stage
    ) async throws(CommandFailure) -> [ExpectedBill] {
        drill.begin(Self.lostRevoke)
        let (dan, finn) = (cast.dan, cast.finn)
        // Of Finn's first copy a REVOKE was lost as well.
        stage.apple.note(try share(finn, of: .lifetime), revoked: revocation())
        let household = [cast.ben, cast.cleo, cast.eva, finn]
        let purchase = try await buy(.atlas, sharedWith: [dan] + household)
        let refund = revocation(type: "REFUND_FULL")
        try await notify("Anna is refunded", "REFUND", purchase, revoked: refund) { drill in
            drill.set(drill.cast.anna, .atlas, .refunded, .purchased)
            for person in household { drill.set(person, .atlas, .familySuspended, .familyShared) }
        }
        let learned = SystemCalls.nowMilliseconds
        for person in household {
            try await notify(
                "\(person.name)'s REVOKE arrives", "REVOKE", try share(person, of: .atlas),
                revoked: revocation()
            ) { $0.set(person, .atlas, .familyRefunded, .familyShared) }
        }
        let (copy, revoked) = (try share(dan, of: .atlas), revocation())
        stage.apple.note(copy, revoked: revoked)
        try await drill.step(
            "Dan's REVOKE never comes, and no household names him: he is still in: the leak",
            .atlas, .look)
        try await findLostRevokes(stage)
        return [
            ExpectedBill(
                purchase: purchase, refundedMilliseconds: refund.dateMilliseconds,
                learnedMilliseconds: learned, people: [cast.anna] + household),
            ExpectedBill(
                purchase: copy, refundedMilliseconds: revoked.dateMilliseconds,
                learnedMilliseconds: SystemCalls.nowMilliseconds, people: [dan]),
        ]
    }

    private mutating func findLostRevokes(_ stage: Stage) async throws(CommandFailure) {
        let (dan, finn) = (cast.dan, cast.finn)
        try await stage.server.stop()
        try await start(stage, sweep: "2s")
        try await drill.step(
            "the server gets a key for Apple and looks after shared copies: Dan's is over",
            .atlas, .await
        ) { $0.set(dan, .atlas, .familyRefunded, .familyShared) }
        try await drill.step(
            "and so is Finn's first one, whose REVOKE was lost before", .lifetime, .await
        ) { $0.set(finn, .lifetime, .familyRefunded, .familyShared) }
        // The acts to come change Apple's history; nobody shall look at it by chance.
        try await stage.server.stop()
        try await start(stage, sweep: "0s")
        try await drill.step(
            "of all others Apple said what was known", .plus, .lookAfterRestart)
    }

    // MARK: The bill

    private mutating func payTheBill(
        _ stage: Stage, atlas: [ExpectedBill]
    ) async throws(CommandFailure) {
        drill.begin(Self.bill)
        let people = [cast.ben, cast.cleo]
        let purchase = try await buy(
            .studio, sharedWith: people, signed: SystemCalls.nowMilliseconds - 10 * Self.day)
        try await drill.step("the three use it", .studio, .use(roundCount: 7))
        // Told three days late: all that was served today came after the refund.
        let refunded = RevocationClaims(
            dateMilliseconds: SystemCalls.nowMilliseconds - 3 * Self.day, type: "REFUND_FULL")
        for person in people {
            try await tellApple(try share(person, of: .studio), revoked: refunded)
        }
        try await tellApple(purchase, revoked: refunded)
        let signed = drill.nextSigning()
        let body = try drill.desk.body(
            "REFUND", uuid: Self.uuid(), signed: signed,
            copy: try drill.desk.copy(of: purchase, signed: signed, revoked: refunded))
        try await drill.step(
            "Anna was refunded three days ago; nobody's REVOKE comes, Apple is asked", .studio,
            .ingestAndAwait(body)
        ) { drill in
            drill.set(drill.cast.anna, .studio, .refunded, .purchased)
            for person in people { drill.set(person, .studio, .familyRefunded, .familyShared) }
        }
        let studio = ExpectedBill(
            purchase: purchase, refundedMilliseconds: refunded.dateMilliseconds,
            learnedMilliseconds: SystemCalls.nowMilliseconds, people: [cast.anna] + people)
        try await drill.step(
            "the bill of the studio: one payment back, three people served after it", .studio,
            .apple(.bill([studio])))
        try await drill.step(
            "the bill of the atlas: five people, and Dan by himself", .atlas, .apple(.bill(atlas)))
    }

    // MARK: The door

    private mutating func comeThroughTheDoor(_ stage: Stage) async throws(CommandFailure) {
        drill.begin(Self.door)
        let gita = cast.gita
        let purchase = drill.purchase(of: .atlas, by: gita, isShared: false)
        let (url, apple) = (stage.server.notificationURL, stage.apple)
        let signed = drill.nextSigning()
        let copy = try drill.desk.copy(of: purchase, signed: signed)
        let body = try drill.desk.body(
            "ONE_TIME_CHARGE", uuid: Self.uuid(), signed: signed, copy: copy)
        try await tellApple(purchase)
        try await drill.step(
            "Gita buys the atlas; Apple posts it", .atlas,
            .apple(.post(body, to: url, by: apple, answer: "200 APPLIED"))
        ) { $0.set(gita, .atlas, .active, .purchased) }
        try await drill.step(
            "Apple posts it once more", .atlas,
            .apple(.post(body, to: url, by: apple, answer: "200 DUPLICATE")))
        let foreign = try drill.desk.body(
            "REFUND", uuid: Self.uuid(), signed: signed, copy: copy, by: stranger)
        try await drill.step(
            "a stranger posts a refund", .atlas,
            .apple(.post(foreign, to: url, by: apple, answer: "400 UNTRUSTED_CHAIN")))
        let (revoked, later) = (revocation(), drill.nextSigning())
        let refund = try drill.desk.body(
            "REFUND", uuid: Self.uuid(), signed: later,
            copy: try drill.desk.copy(of: purchase, signed: later, revoked: revoked))
        try await tellApple(purchase, revoked: revoked)
        try await drill.step(
            "Gita is refunded; Apple posts it", .atlas,
            .apple(.post(refund, to: url, by: apple, answer: "200 APPLIED"))
        ) { $0.set(gita, .atlas, .refunded, .purchased) }
    }
}

// MARK: - Notifications that never came

extension RehearsalStory {
    /// Apple sends, or tries to; nobody hears it.
    ///
    /// - Returns: The notificationUUID.
    private func sendInVain(
        _ type: String, _ purchase: Purchase, revoked: RevocationClaims? = nil, signed: Int64,
        isFailure: Bool, _ stage: Stage
    ) throws(CommandFailure) -> String {
        let uuid = Self.uuid()
        let payload = try drill.desk.notification(
            type, uuid: uuid, signed: signed,
            copy: try drill.desk.copy(of: purchase, signed: signed, revoked: revoked))
        stage.apple.appStore.sent(Array(payload.utf8), failed: isFailure)
        stage.apple.note(purchase, revoked: revoked)
        return uuid
    }

    private mutating func missNotifications(_ stage: Stage) async throws(CommandFailure) {
        drill.begin(Self.missed)
        let (dan, gita) = (cast.dan, cast.gita)
        guard let own = ownOfDan else {
            throw CommandFailure(.failed, "the story has no purchase of Dan's own")
        }
        try await drill.untilSettled()
        await stage.server.kill()
        let studio = drill.purchase(of: .studio, by: gita, isShared: false)
        _ = try sendInVain(
            "ONE_TIME_CHARGE", studio, signed: drill.nextSigning(), isFailure: true, stage)
        let revoked = revocation(reason: 1)
        _ = try sendInVain(
            "REFUND", own, revoked: revoked, signed: drill.nextSigning(), isFailure: true, stage)
        try await start(stage, sweep: "0s")
        try await drill.step(
            "the server was dead when Gita bought the studio; it looks for what it has missed",
            .studio, .await
        ) { $0.set(gita, .studio, .active, .purchased) }
        try await drill.step(
            "and when Dan got his own money back", .lifetime, .await
        ) { $0.set(dan, .lifetime, .refunded, .purchased) }
        try await closeOlderGap(stage)
    }

    private mutating func closeOlderGap(_ stage: Stage) async throws(CommandFailure) {
        let finn = cast.finn
        let now = SystemCalls.nowMilliseconds
        let studio = drill.purchase(of: .studio, by: finn, isShared: false)
        let uuid = try sendInVain(
            "ONE_TIME_CHARGE", studio, signed: now - 20 * Self.day, isFailure: false, stage)
        try await drill.step(
            "Apple's books say that one was delivered, 20 days ago; nobody has it", .studio, .look)
        let backfill = Backfill(
            fromMilliseconds: now - 21 * Self.day,
            toMilliseconds: SystemCalls.nowMilliseconds + 1)
        try await drill.step(
            "`entitlectl backfill` over three weeks: Finn has bought the studio", .studio,
            .apple(.backfill(backfill, recovers: [uuid]))
        ) { $0.set(finn, .studio, .active, .purchased) }
        try await drill.step(
            "and once more: no gap is left", .studio, .apple(.backfill(backfill, recovers: [])))
    }

    // MARK: Rebuild

    private mutating func rebuildFromApple(_ stage: Stage) async throws(CommandFailure) {
        drill.begin(Self.unseen)
        let eva = cast.eva
        try await tellApple(drill.purchase(of: .studio, by: eva, isShared: false))
        try await drill.step(
            "Eva has bought the studio, and nobody told the server; a dry run shows it", .studio,
            .apple(.rebuild(eva, isDryRun: true))
        ) { $0.set(eva, .studio, .active, .purchased) }
        try await drill.step(
            "Eva is rebuilt from Apple's history", .studio, .apple(.rebuild(eva, isDryRun: false))
        ) { $0.set(eva, .studio, .active, .purchased) }
    }

    // MARK: Apple out of order

    private mutating func failInTheMiddle(_ stage: Stage) async throws(CommandFailure) {
        drill.begin(Self.outage)
        let (ben, cleo) = (cast.ben, cast.cleo)
        let appStore = stage.apple.appStore
        // What has changed last stands on the last page.
        stage.apple.fill(ben, StandInAppStore.pageItemCount)
        try await tellApple(
            try share(ben, of: .plus), revoked: revocation(type: "FAMILY_REVOKE"))
        appStore.script(.transactionHistory, [.usual])
        // Longer than the call may wait, so that it has to give up at once.
        appStore.outage(.throttled { SystemCalls.nowMilliseconds + 3_000 })
        try await drill.step(
            "Ben has left; the first page of his history comes, then Apple throttles", .plus,
            .apple(.rebuildInVain(ben, timeout: .seconds(3), reason: "APP_STORE_THROTTLED")))
        appStore.outage(nil)
        try await drill.step("when Apple allows, it is done", .plus, .await) {
            $0.set(ben, .plus, .familyLeft, .familyShared)
        }
        try await tellApple(drill.purchase(of: .studio, by: cleo, isShared: false))
        appStore.outage(.page(503))
        try await drill.step(
            "Cleo has bought the studio; Apple's servers fail", .studio,
            .apple(.rebuildInVain(cleo, timeout: .seconds(3), reason: "APP_STORE_INCOMPLETE")))
        appStore.outage(nil)
        try await drill.step("when they work again, it is done", .studio, .await) {
            $0.set(cleo, .studio, .active, .purchased)
        }
        try await drill.step(
            "nobody is left to ask about, nobody else has gained or lost", .plus,
            .apple(.settle))
    }
}

extension Product {
    fileprivate var title: String {
        switch self {
        case .lifetime: "lifetime"
        case .plus: "subscription"
        case .atlas: "atlas"
        case .studio: "studio"
        }
    }
}
