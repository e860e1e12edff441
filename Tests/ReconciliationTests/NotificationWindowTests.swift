import Entitlements
import Testing

@testable import Reconciliation

@Suite struct NotificationWindowTests {
    static let minute: Int64 = 60_000
    static let day: Int64 = 86_400_000

    static func at(_ offset: Int64) -> Timestamp { Bench.start.adding(milliseconds: offset) }

    /// A window in words: dates as offsets from now, in minutes.
    static func words(_ window: NotificationWindow) -> String {
        func offset(_ instant: Timestamp) -> Int64 {
            (instant.milliseconds - Bench.start.milliseconds) / minute
        }
        let kind = window.isOnlyFailures ? "failures" : "all"
        let mark = window.completes.map { " -> \(offset($0))" } ?? ""
        let dates = [window.dates.lowerBound, window.dates.upperBound].map(offset)
        return "\(kind) \(dates[0]) \(dates[1])\(mark)"
    }

    static func round(
        mark: Int64?, hasRead: Bool = false, environment: AppEnvironment = .production,
        _ change: (inout ReconciliationConfiguration) -> Void = { _ in }
    ) -> NotificationWindow.Round {
        var configuration = ReconciliationConfiguration()
        change(&configuration)
        return NotificationWindow.Round(
            mark: mark.map(at), hasRead: hasRead, environment: environment, now: Bench.start,
            configuration: configuration)
    }

    @Test func `the first start of all replays nothing by itself`() {
        let round = Self.round(mark: nil)
        #expect(round.start == Bench.start && round.windows.isEmpty && round.lost == nil)
    }

    @Test func `the first start reaches back as far as it is told`() {
        let round = Self.round(mark: nil) { $0.firstBackfill = 120 * Self.minute }
        #expect(round.windows.map(Self.words) == ["all -120 0 -> 0"])
    }

    @Test func `a start reads all since the mark with an overlap, then what failed before`() {
        let round = Self.round(mark: -60 * Self.minute)
        #expect(round.windows.map(Self.words) == ["all -70 0 -> 0", "failures -10140 -70"])
    }

    @Test func `a long time is read in parts, each done for good`() {
        let round = Self.round(mark: -2 * Self.day)
        #expect(
            round.windows.map(Self.words) == [
                "all -2890 -1450 -> -1450", "all -1450 -10 -> -10", "all -10 0 -> 0",
                "failures -12960 -2890",
            ])
    }

    @Test(arguments: [(Int64(-30), true), (-31, false)])
    func `while it runs only failures are read, unless it slept`(
        minutes: Int64, isOnlyFailures: Bool
    ) {
        let round = Self.round(mark: minutes * Self.minute, hasRead: true)
        #expect(round.windows.first?.isOnlyFailures == isOnlyFailures)
        if isOnlyFailures {
            #expect(round.windows.map(Self.words) == ["failures -10110 0 -> 0"])
        }
    }

    @Test(arguments: [(AppEnvironment.production, Int64(180)), (.sandbox, 30)])
    func `what Apple has forgotten is told and not asked for`(
        environment: AppEnvironment, days: Int64
    ) {
        let kept = days * Self.day - 60 * Self.minute
        let inside = Self.round(mark: -kept, environment: environment)
        #expect(inside.lost == nil && inside.windows.first?.dates.lowerBound == Self.at(-kept))
        let outside = Self.round(mark: -kept - 1, environment: environment)
        #expect(outside.lost == Self.at(-kept - 1)..<Self.at(-kept))
        #expect(outside.windows.first?.dates.lowerBound == Self.at(-kept))
    }

    @Test(arguments: [(Int64(60), false), (61, true)])
    func `a mark ahead of the clock is believed for an hour`(minutes: Int64, isAhead: Bool) {
        let round = Self.round(mark: minutes * Self.minute)
        #expect(round.isMarkAhead == isAhead)
        #expect(round.start == (isAhead ? Self.at(-7 * Self.day) : Bench.start))
        let latest = round.windows.compactMap(\.completes).max()
        #expect(latest == Bench.start)
    }

    @Test func `a mark at this very instant leaves the overlap`() {
        #expect(
            Self.round(mark: 0).windows.map(Self.words)
                == ["all -10 0 -> 0", "failures -10080 -10"])
    }

    @Test func `pages that go round in a ring are noticed`() {
        var window = NotificationWindow(
            dates: Self.at(-1)..<Self.at(0), isOnlyFailures: false, completes: nil)
        let first = window.proceed(to: "a")
        let second = window.proceed(to: "b")
        #expect(window.query(in: Bench.production).pageToken == "b")
        let third = window.proceed(to: "a")
        #expect(first && second && !third)
        window.restart()
        #expect(window.query(in: Bench.production).pageToken.isEmpty)
        let again = window.proceed(to: "a")
        #expect(again)
    }
}
