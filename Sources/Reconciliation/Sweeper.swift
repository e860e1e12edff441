internal import Entitlements
internal import Service
internal import Storage

/// Queues every active family copy that was not fetched for long: Apple sends a REVOKE once, and
/// one that got lost would leave access for ever.
///
/// | state | event | next state |
/// | --- | --- | --- |
/// | resting | half of the interval since the last start has passed | sweeping from the first |
/// | sweeping | a page, while few fetches are due and Apple answers | sweeping |
/// | sweeping | the last page | resting; the mark moves |
/// | any | restart | resting until it is due by the mark |
///
/// A sweep that is begun again after a restart passes over those who were fetched meanwhile. One
/// thread.
struct Sweeper {
    let desk: ReconciliationDesk
    let door: CommitDoor
    /// Called when somebody was queued.
    let onQueued: @Sendable () -> Void
    private var places: [Place]

    private struct Place {
        let index: ScopeIndex
        let scope: Scope
        var cursor: UInt64?
        /// When the running sweep began; nil: resting.
        var startedAt: Timestamp?
        /// When the next one begins; nil: not looked up yet.
        var nextAt: Timestamp?
    }

    init(
        desk: ReconciliationDesk, door: CommitDoor, onQueued: @escaping @Sendable () -> Void
    ) {
        self.desk = desk
        self.door = door
        self.onQueued = onQueued
        places = desk.ledger.scopes.map { Place(index: $0.index, scope: $0.scope) }
    }

    /// Does one page of each world that is being swept.
    ///
    /// - Returns: when to come again.
    mutating func turn() -> Timestamp {
        guard desk.configuration.sweepInterval > 0 else { return .distantFuture }
        var next = Timestamp.distantFuture
        for position in places.indices {
            do throws(Refusal) {
                next = min(next, try turn(position))
            } catch {
                if !desk.isStopping { desk.tell(.storeFailed(error)) }
                next = min(next, desk.now.adding(milliseconds: 5_000))
            }
        }
        return next
    }

    private mutating func turn(_ position: Int) throws(Refusal) -> Timestamp {
        let now = desk.now
        guard let startedAt = places[position].startedAt else {
            return try begin(position, at: now)
        }
        let place = places[position]
        if let until = desk.pausedUntil(place.scope, .customers) { return until }
        let countMax = desk.configuration.sweepQueueMax
        guard try desk.ledger.due(place.index, now, countMax).due.count < countMax else {
            return now.adding(milliseconds: desk.configuration.pollInterval)
        }
        let page = try desk.ledger.sweepPage(
            place.index, place.cursor, desk.configuration.sweepPageCount,
            startedAt.adding(milliseconds: -desk.configuration.sweepAge))
        if !page.due.isEmpty {
            _ = try door.commit(desk.ledger.queueing(page.due, .sweep))
            onQueued()
        }
        guard let next = page.next else { return try finish(position, startedAt) }
        places[position].cursor = next
        // Millions of customers are gone through in minutes, and the disk has other things to do.
        return now.adding(milliseconds: 20)
    }

    private mutating func begin(
        _ position: Int, at now: Timestamp
    ) throws(Refusal) -> Timestamp {
        let age = desk.configuration.sweepAge
        let nextAt: Timestamp
        if let known = places[position].nextAt {
            nextAt = known
        } else {
            nextAt =
                try desk.ledger.mark(.sweepFinished, places[position].index)?
                .adding(milliseconds: age) ?? now
        }
        places[position].nextAt = nextAt
        // Farther off than one age: the clock was set back.
        guard nextAt <= now || nextAt > now.adding(milliseconds: age) else { return nextAt }
        places[position].startedAt = now
        places[position].cursor = nil
        return now
    }

    private mutating func finish(
        _ position: Int, _ startedAt: Timestamp
    ) throws(Refusal) -> Timestamp {
        _ = try door.commit(
            desk.ledger.moving(.sweepFinished, places[position].index, desk.now))
        let nextAt = startedAt.adding(milliseconds: desk.configuration.sweepAge)
        places[position].startedAt = nil
        places[position].nextAt = nextAt
        return nextAt
    }
}
