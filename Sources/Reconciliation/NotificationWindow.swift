internal import Entitlements

/// A span of Apple's notification history that is read page by page.
struct NotificationWindow: Hashable {
    /// Apple's error where a window begins before what it keeps.
    static let startTooOld: Int64 = 4_000_012

    /// Half-open.
    var dates: Range<Timestamp>
    var isOnlyFailures: Bool
    /// Where the mark stands when the window is read to its end; nil: it stays.
    var completes: Timestamp?
    /// Missed ones found so far.
    var recoveredCount = 0
    private(set) var pageToken = ""
    /// Hashes of the tokens that were followed.
    private var followed: Set<Int> = []

    init(dates: Range<Timestamp>, isOnlyFailures: Bool, completes: Timestamp?) {
        self.dates = dates
        self.isOnlyFailures = isOnlyFailures
        self.completes = completes
    }

    /// The page that comes next.
    func query(in scope: Scope) -> NotificationQuery {
        NotificationQuery(
            scope: scope, dates: dates, isOnlyFailures: isOnlyFailures, pageToken: pageToken)
    }

    /// Goes on to a page.
    ///
    /// - Returns: false when it was read before: the pages go round in a ring.
    mutating func proceed(to token: String) -> Bool {
        pageToken = token
        return followed.insert(ExactName(token).hashValue).inserted
    }

    /// Begins again at the first page.
    mutating func restart() {
        pageToken = ""
        followed = []
    }
}

extension NotificationWindow {
    /// What a round reads.
    struct Round: Equatable {
        /// Notifications before it are accounted for.
        var start: Timestamp
        var windows: [NotificationWindow] = []
        /// What would have to be read, and Apple keeps no more.
        var lost: Range<Timestamp>?
        /// Whether the mark lies ahead of the clock, which was wrong once.
        var isMarkAhead = false

        /// The round that begins now.
        ///
        /// - Parameters:
        ///   - mark: Up to where notifications are accounted for; nil: nobody has ever looked.
        ///   - hasRead: Whether a round has begun since the start.
        ///   - environment: Apple keeps 180 days of Production, and is said to keep 30 of Sandbox.
        ///   - now: By the wall clock.
        ///   - configuration: How far back, and in which parts.
        init(
            mark: Timestamp?, hasRead: Bool, environment: AppEnvironment, now: Timestamp,
            configuration: ReconciliationConfiguration
        ) {
            // A small step back of the clock is no reason to read a week again.
            let tolerance: Int64 = 3_600_000
            start = min(mark ?? now.adding(milliseconds: -configuration.firstBackfill), now)
            if let mark, mark > now.adding(milliseconds: tolerance) {
                isMarkAhead = true
                start = now.adding(milliseconds: -configuration.failureLookback)
            }
            let kept: Int64 = (environment == .production ? 180 : 30) * 86_400_000 - tolerance
            let oldest = now.adding(milliseconds: -kept)
            if start < oldest {
                lost = start..<oldest
                start = oldest
            }
            let isWhole =
                !hasRead || isMarkAhead
                || now.milliseconds - start.milliseconds > 2 * configuration.backfillInterval
            let failuresStart = max(
                oldest, start.adding(milliseconds: -configuration.failureLookback))
            guard isWhole else {
                add(failuresStart..<now, isOnlyFailures: true, completes: now)
                return
            }
            // Without a mark nobody has missed anything yet.
            let overlap = mark == nil ? 0 : configuration.backfillOverlap
            let from = max(oldest, start.adding(milliseconds: -overlap))
            addParts(from..<now, configuration.backfillPart)
            if mark != nil {
                add(failuresStart..<max(failuresStart, from), isOnlyFailures: true, completes: nil)
            }
        }

        private mutating func add(
            _ dates: Range<Timestamp>, isOnlyFailures: Bool, completes: Timestamp?
        ) {
            guard !dates.isEmpty else { return }
            windows.append(
                NotificationWindow(
                    dates: dates, isOnlyFailures: isOnlyFailures, completes: completes))
        }

        private mutating func addParts(_ dates: Range<Timestamp>, _ part: Int64) {
            var from = dates.lowerBound
            while from < dates.upperBound {
                let to = min(dates.upperBound, from.adding(milliseconds: max(1, part)))
                add(from..<to, isOnlyFailures: false, completes: to)
                from = to
            }
        }
    }
}
