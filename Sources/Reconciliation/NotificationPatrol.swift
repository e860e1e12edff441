internal import AppStoreServerAPI
internal import Entitlements
internal import Service
internal import Storage

/// Looks for notifications that never came, world by world, page by page.
///
/// The first round after a start, and one after a long pause, reads everything since the mark:
/// deliveries may have gone to a server that was not there. Every other round reads what Apple says
/// it could not deliver. The mark moves when a window is read to its end, and not before.
///
/// One thread; between turns it can be stopped at any point. A crash repeats one part.
struct NotificationPatrol {
    let desk: ReconciliationDesk
    let reader: NotificationReader
    private var places: [Place]
    private var lastPlace = 0

    private struct Place {
        let index: ScopeIndex
        let scope: Scope
        /// What of the round is left.
        var windows: [NotificationWindow] = []
        /// When the next round begins.
        var nextAt = Timestamp.distantPast
        /// Notifications up to here are accounted for; nil: not looked up yet.
        var completeUntil: Timestamp?
        /// Pages that Apple did not let continue, in a row.
        var restartCount = 0
        var hasRead = false
    }

    init(desk: ReconciliationDesk, door: CommitDoor) {
        self.desk = desk
        reader = NotificationReader(desk: desk, door: door)
        places = desk.ledger.scopes.map { Place(index: $0.index, scope: $0.scope) }
    }

    /// Does one page, or begins a round, or nothing.
    ///
    /// - Returns: when to come again.
    mutating func turn() -> Timestamp {
        guard desk.configuration.backfillInterval > 0 else { return .distantFuture }
        var next = Timestamp.distantFuture
        // Worlds take turns: the catching up of one must not hold up the others.
        for offset in 1...max(1, places.count) where !places.isEmpty {
            let position = (lastPlace + offset) % places.count
            let at = turn(position)
            next = min(next, at)
            guard at > desk.now else {
                lastPlace = position
                break
            }
        }
        return next
    }

    private mutating func turn(_ position: Int) -> Timestamp {
        let place = places[position]
        if let until = desk.pausedUntil(place.scope, .notifications) { return until }
        do throws(Refusal) {
            if places[position].windows.isEmpty {
                let now = desk.now
                let isFarOff =
                    place.nextAt > now.adding(milliseconds: desk.configuration.backfillInterval)
                // Far off: the clock was set back.
                guard place.nextAt <= now || isFarOff else { return place.nextAt }
                try beginRound(position, at: now)
                return places[position].windows.isEmpty ? places[position].nextAt : now
            }
            return try readPage(position)
        } catch {
            if !desk.isStopping { desk.tell(.storeFailed(error)) }
            return desk.now.adding(milliseconds: 5_000)
        }
    }

    // MARK: A round

    private mutating func beginRound(_ position: Int, at now: Timestamp) throws(Refusal) {
        let place = places[position]
        let configuration = desk.configuration
        let known: Timestamp?
        if let mark = place.completeUntil {
            known = mark
        } else {
            known = try desk.ledger.mark(.notificationsComplete, place.index)
        }
        let plan = NotificationWindow.Round(
            mark: known, hasRead: place.hasRead, environment: place.scope.environment, now: now,
            configuration: configuration)
        if let mark = known, plan.isMarkAhead {
            desk.tell(.markAheadOfClock(place.scope, mark: mark))
        }
        if known == nil { try move(position, to: plan.start) }
        if let lost = plan.lost { desk.tell(.gapTooOld(place.scope, dates: lost)) }
        places[position].completeUntil = plan.start
        places[position].windows = plan.windows
        places[position].nextAt = now.adding(milliseconds: configuration.backfillInterval)
        places[position].restartCount = 0
        places[position].hasRead = true
    }

    private mutating func move(_ position: Int, to instant: Timestamp) throws(Refusal) {
        let event = desk.ledger.moving(.notificationsComplete, places[position].index, instant)
        _ = try reader.door.commit(event)
        places[position].completeUntil = instant
    }

    // MARK: A page

    private mutating func readPage(_ position: Int) throws(Refusal) -> Timestamp {
        let (scope, window) = (places[position].scope, places[position].windows[0])
        let page: AppStoreServerClient.NotificationPage
        do throws(AppStoreServerError) {
            page = try desk.apple.notifications(
                window.query(in: scope),
                desk.now.adding(milliseconds: desk.configuration.pageTimeout))
            desk.answered(scope, .notifications)
        } catch {
            return failed(position, error)
        }
        let outcome = try reader.take(page, isDryRun: false)
        for problem in outcome.problems { desk.report(problem, scope) }
        places[position].windows[0].recoveredCount += outcome.recovered.count
        guard page.nextPageToken.isEmpty else {
            if !places[position].windows[0].proceed(to: page.nextPageToken) {
                return abandon(position, "the pages of the notification history go round in a ring")
            }
            return desk.now
        }
        try finish(position)
        return desk.now
    }

    private mutating func finish(_ position: Int) throws(Refusal) {
        let window = places[position].windows[0]
        if let instant = window.completes { try move(position, to: instant) }
        places[position].windows.removeFirst()
        if window.recoveredCount > 0 {
            desk.tell(
                .gapClosed(
                    places[position].scope, dates: window.dates, count: window.recoveredCount))
        }
    }

    private mutating func failed(_ position: Int, _ error: AppStoreServerError) -> Timestamp {
        let now = desk.now
        if desk.isStopping { return .distantFuture }
        if case .paused(let until, _) = desk.failed(error, places[position].scope, .notifications) {
            return until
        }
        if case .rejected(NotificationWindow.startTooOld, _) = error {
            // Apple forgets sooner than its documents say: what is gone holds up nothing.
            return skip(position)
        }
        places[position].restartCount += 1
        guard places[position].restartCount <= 3 else { return abandon(position, error.message) }
        // A page token does not live for ever.
        if error.isFinal { places[position].windows[0].restart() }
        return now.adding(
            milliseconds: Backoff.job(
                afterFailures: places[position].restartCount, fraction: desk.surroundings.fraction()
            ))
    }

    private mutating func skip(_ position: Int) -> Timestamp {
        desk.tell(
            .gapTooOld(places[position].scope, dates: places[position].windows[0].dates))
        do throws(Refusal) {
            try finish(position)
        } catch {
            desk.tell(.storeFailed(error))
            return desk.now.adding(milliseconds: 5_000)
        }
        return desk.now
    }

    /// Leaves the rest of the round to the next one, which begins where the mark stands.
    private mutating func abandon(_ position: Int, _ message: String) -> Timestamp {
        let until = desk.now.adding(milliseconds: desk.configuration.backfillInterval)
        desk.tell(.paused(places[position].scope, until: until, message: message))
        places[position].windows = []
        places[position].nextAt = until
        places[position].hasRead = false
        return until
    }
}
