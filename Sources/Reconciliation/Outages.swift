internal import AppStoreServerAPI
internal import Entitlements

/// Which of Apple's servers are left alone, and until when: one failing server gets few questions,
/// however many customers wait for it.
///
/// | state | event | next state |
/// | --- | --- | --- |
/// | asked | throttled, unavailable; the third malformed answer in a row | paused |
/// | asked | unauthorized | paused, long, for everything of the world |
/// | paused | its instant comes | asked, one failure from being paused for longer |
/// | any | an answer, also "not found"; `clear` | asked |
struct Outages {
    /// What is asked for: Apple limits each by itself.
    enum Lane: Hashable, CaseIterable {
        case customers
        case notifications
    }

    /// What a failure means for those who wait.
    enum Effect: Equatable {
        /// Apple answers, but this question not.
        case questionOnly
        /// Nothing is asked before the instant. `isNew`: worth telling.
        case paused(until: Timestamp, isNew: Bool)
    }

    private struct Place: Hashable {
        var scope: Scope
        var lane: Lane
    }

    private struct Trouble {
        var failureCount = 0
        var malformedCount = 0
        var until = Timestamp.distantPast
        var isUnauthorized = false
        /// Whether an operator knows that it began, and wants to know that it ended.
        var isTold = false
        /// Whether he acted since: then he wants to know that it was in vain.
        var isRetold = false
    }

    /// Answers that make no sense before they count as an outage: one may be about one customer.
    private static let malformedCountMax = 3

    /// Apple counts by the hour.
    private static let longestPause: Int64 = 2 * 3_600_000

    private var troubles: [Place: Trouble] = [:]

    /// Until when nothing is asked; nil: it may be asked.
    func pausedUntil(_ scope: Scope, _ lane: Lane, at now: Timestamp) -> Timestamp? {
        guard let until = troubles[Place(scope: scope, lane: lane)]?.until, until > now,
            // Else the clock was set back since, and it would be a long pause.
            until <= now.adding(milliseconds: Self.longestPause)
        else { return nil }
        return until
    }

    /// Worlds whose credentials were not accepted when they were last used.
    var unauthorizedScopes: Set<Scope> {
        Set(troubles.filter { $0.value.isUnauthorized }.map(\.key.scope))
    }

    /// An answer came.
    ///
    /// - Returns: whether an outage that was told of is over.
    mutating func answered(_ scope: Scope, _ lane: Lane) -> Bool {
        var wasTold = troubles.removeValue(forKey: Place(scope: scope, lane: lane))?.isTold ?? false
        // Credentials that are good for one question are good for all of the world.
        for lane in Lane.allCases {
            let place = Place(scope: scope, lane: lane)
            guard let trouble = troubles[place], trouble.isUnauthorized else { continue }
            wasTold = wasTold || trouble.isTold
            troubles[place] = nil
        }
        return wasTold
    }

    /// A question failed; `fraction` is a number of 0 ..< 1 for the spread.
    mutating func failed(
        _ error: AppStoreServerError, _ scope: Scope, _ lane: Lane, at now: Timestamp,
        fraction: Double
    ) -> Effect {
        let place = Place(scope: scope, lane: lane)
        var trouble = troubles[place] ?? Trouble()
        func pause(_ milliseconds: Int64, atLeastUntil instant: Timestamp = .distantPast) {
            let latest = now.adding(milliseconds: Self.longestPause)
            trouble.until = max(now.adding(milliseconds: milliseconds), min(instant, latest))
        }
        switch error {
        case .notFound, .rejected:
            _ = answered(scope, lane)
            return .questionOnly
        case .malformed:
            trouble.malformedCount += 1
            guard trouble.malformedCount >= Self.malformedCountMax else {
                troubles[place] = trouble
                return .questionOnly
            }
            trouble.failureCount += 1
            pause(Backoff.outage(afterFailures: trouble.failureCount, fraction: fraction))
        case .throttled(let until):
            trouble.failureCount += 1
            pause(500, atLeastUntil: until)
        case .unavailable(_, let retryAt):
            trouble.failureCount += 1
            pause(
                Backoff.outage(afterFailures: trouble.failureCount, fraction: fraction),
                atLeastUntil: retryAt)
        case .unauthorized:
            return unauthorized(trouble, place, at: now, fraction: fraction)
        }
        let isNew = !trouble.isTold || trouble.isRetold
        trouble.isTold = true
        trouble.isRetold = false
        troubles[place] = trouble
        return .paused(until: trouble.until, isNew: isNew)
    }

    private mutating func unauthorized(
        _ known: Trouble, _ place: Place, at now: Timestamp, fraction: Double
    ) -> Effect {
        var trouble = known
        trouble.failureCount += 1
        trouble.until = now.adding(
            milliseconds: Backoff.unauthorized(
                afterFailures: trouble.failureCount, fraction: fraction))
        let isNew = !unauthorizedScopes.contains(place.scope) || trouble.isRetold
        trouble.isUnauthorized = true
        trouble.isTold = true
        trouble.isRetold = false
        for lane in Lane.allCases { troubles[Place(scope: place.scope, lane: lane)] = trouble }
        return .paused(until: trouble.until, isNew: isNew)
    }

    /// Everything may be asked again: credentials were replaced, or the network put right.
    mutating func clear() {
        for place in troubles.keys {
            troubles[place]?.until = .distantPast
            troubles[place]?.failureCount = 0
            troubles[place]?.isRetold = true
        }
    }
}
