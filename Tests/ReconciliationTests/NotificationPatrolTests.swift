import AppStoreServerAPI
import Entitlements
import Service
import Storage
import Testing

@testable import Reconciliation

@Suite struct NotificationPatrolTests {
    static let minute: Int64 = 60_000

    /// Turns until nothing is to be done now.
    static func run(_ patrol: inout NotificationPatrol, _ bench: Bench) -> Timestamp {
        for _ in 0..<1_000 {
            let next = patrol.turn()
            if next > bench.desk.now { return next }
        }
        Issue.record("the patrol never rests")
        return .distantPast
    }

    static func bench(markMinutesAgo minutes: Int64) -> Bench {
        let bench = Bench()
        bench.set {
            $0.marks[.notificationsComplete] = $0.now.adding(milliseconds: -minutes * minute)
        }
        return bench
    }

    static func asked(_ bench: Bench) -> [String] {
        bench.queries.map { query in
            let offsets = [query.dates.lowerBound, query.dates.upperBound].map {
                ($0.milliseconds - Bench.start.milliseconds) / minute
            }
            return "\(query.isOnlyFailures ? "failures" : "all") \(offsets[0]) \(offsets[1])"
                + (query.pageToken.isEmpty ? "" : " \(query.pageToken)")
        }
    }

    @Test func `the first start sets the mark and asks nothing`() {
        let bench = Bench()
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        let next = Self.run(&patrol, bench)
        #expect(next == Bench.start.adding(milliseconds: 15 * Self.minute))
        #expect(bench.committed == ["mark notificationsComplete 0: 0"])
        #expect(bench.queries.isEmpty)
    }

    @Test func `a gap is closed page by page, and the mark moves at its end`() {
        let bench = Self.bench(markMinutesAgo: 60)
        bench.set {
            $0.pages = [Bench.page(["u1", "u2"], next: "t1"), Bench.page(["u3"])]
            $0.storedUUIDs = ["u1"]
        }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        _ = Self.run(&patrol, bench)
        #expect(Self.asked(bench) == ["all -70 0", "all -70 0 t1", "failures -10140 -70"])
        #expect(
            bench.committed == [
                "notification u2", "notification u3", "mark notificationsComplete 0: 0",
            ])
        let dates = Bench.start.adding(milliseconds: -70 * Self.minute)..<Bench.start
        #expect(bench.notices == [.gapClosed(Bench.production, dates: dates, count: 2)])
    }

    @Test func `while it runs it asks every quarter of an hour for what failed`() {
        let bench = Self.bench(markMinutesAgo: 1)
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        for _ in 0..<3 {
            let next = Self.run(&patrol, bench)
            bench.set { $0.now = next }
        }
        #expect(
            Self.asked(bench) == [
                "all -11 0", "failures -10081 -11", "failures -10080 15", "failures -10065 30",
            ])
        #expect(
            bench.committed == [
                "mark notificationsComplete 0: 0", "mark notificationsComplete 0: 900000",
                "mark notificationsComplete 0: 1800000",
            ])
    }

    @Test func `a damaged item is told, and the mark passes it`() {
        let bench = Self.bench(markMinutesAgo: 60)
        bench.set { $0.pages = [Bench.page(["u1", "bad", "u2"])] }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        _ = Self.run(&patrol, bench)
        #expect(bench.committed.last == "mark notificationsComplete 0: 0")
        #expect(bench.committed.count == 3)
        #expect(
            bench.notices.first
                == .damagedItem(
                    Bench.production, Refusal(.badSignature, "the test does not believe it")))
    }

    @Test func `an outage breaks a window off where it is, and it goes on there`() {
        let bench = Self.bench(markMinutesAgo: 60)
        let until = Bench.start.adding(milliseconds: 30_000)
        bench.set {
            $0.pages = [
                Bench.page(["u1"], next: "t1"), .failure(.throttled(until: until)),
                Bench.page(["u2"]),
            ]
        }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        #expect(Self.run(&patrol, bench) == until)
        #expect(bench.committed == ["notification u1"])
        #expect(patrol.turn() == until)
        bench.set { $0.now = until }
        _ = Self.run(&patrol, bench)
        #expect(
            Self.asked(bench) == [
                "all -70 0", "all -70 0 t1", "all -70 0 t1", "failures -10140 -70",
            ])
        #expect(bench.committed.last == "mark notificationsComplete 0: 0")
    }

    @Test func `a store that fails leaves the mark, and the page is read again`() {
        let bench = Self.bench(markMinutesAgo: 60)
        bench.set {
            $0.pages = [Bench.page(["u1"]), Bench.page(["u1"])]
            $0.doorRefusals = [Refusal(.storeUnavailable, "disk full")]
        }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        let next = Self.run(&patrol, bench)
        #expect(bench.committed.isEmpty)
        bench.set { $0.now = next }
        _ = Self.run(&patrol, bench)
        #expect(bench.committed == ["notification u1", "mark notificationsComplete 0: 0"])
    }

    @Test func `a page token that Apple takes no more begins the window again`() {
        let bench = Self.bench(markMinutesAgo: 60)
        bench.set {
            $0.pages = [
                Bench.page(["u1"], next: "t1"),
                .failure(.rejected(code: 4_000_017, message: "the token expired")),
                Bench.page(["u1"], next: "t2"), Bench.page(["u2"]),
            ]
        }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        let next = Self.run(&patrol, bench)
        bench.set { $0.now = next }
        _ = Self.run(&patrol, bench)
        #expect(
            Self.asked(bench).prefix(4) == [
                "all -70 0", "all -70 0 t1", "all -70 0", "all -70 0 t2",
            ])
        #expect(
            bench.committed == [
                "notification u1", "notification u2", "mark notificationsComplete 0: 0",
            ])
    }

    @Test func `a request that Apple refuses for good is not repeated for ever`() {
        let bench = Self.bench(markMinutesAgo: 60)
        bench.set {
            $0.pages = (0..<100).map { _ in .failure(.rejected(code: 4_000_000, message: "no")) }
        }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        for _ in 0..<20 {
            let next = Self.run(&patrol, bench)
            guard next <= Bench.start.adding(milliseconds: 60 * Self.minute) else { break }
            bench.set { $0.now = next }
        }
        #expect(bench.queries.count <= 20)
        #expect(bench.committed.isEmpty)
    }

    @Test func `what Apple has forgotten sooner than it says holds up nothing`() {
        let bench = Self.bench(markMinutesAgo: 2 * 24 * 60)
        bench.set { $0.pages = [.failure(.rejected(code: 4_000_012, message: "too old"))] }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        _ = Self.run(&patrol, bench)
        let from = Bench.start.adding(milliseconds: -2_890 * Self.minute)
        #expect(
            bench.notices == [
                .gapTooOld(
                    Bench.production, dates: from..<from.adding(milliseconds: 1_440 * Self.minute))
            ])
        #expect(bench.committed.last == "mark notificationsComplete 0: 0")
    }

    @Test func `pages that go round in a ring end with the round`() {
        let bench = Self.bench(markMinutesAgo: 60)
        bench.set {
            $0.pages = (0..<100).map { Bench.page(["u\($0)"], next: $0 % 2 == 0 ? "a" : "b") }
        }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        let next = Self.run(&patrol, bench)
        #expect(next == Bench.start.adding(milliseconds: 15 * Self.minute))
        #expect(bench.queries.count == 3)
        #expect(!bench.committed.contains { $0.hasPrefix("mark") })
        // The next round begins at the mark again.
        bench.set {
            $0.now = next
            $0.pages = []
        }
        _ = Self.run(&patrol, bench)
        #expect(Self.asked(bench)[3] == "all -70 15")
    }

    @Test func `a clock that is set back does not stop the patrol, nor move the mark ahead`() {
        let bench = Self.bench(markMinutesAgo: 1)
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        _ = Self.run(&patrol, bench)
        bench.advance(-3 * 24 * 60 * Self.minute)
        _ = Self.run(&patrol, bench)
        #expect(bench.notices.contains(.markAheadOfClock(Bench.production, mark: Bench.start)))
        #expect(bench.queries.count > 3)
        #expect(bench.queries.allSatisfy { $0.dates.upperBound <= Bench.start })
    }

    @Test func `switched off it asks nothing`() {
        let bench = Bench { $0.backfillInterval = 0 }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        #expect(patrol.turn() == .distantFuture)
        #expect(bench.committed.isEmpty)
    }

    @Test func `the catching up of one world does not hold up the other`() {
        let bench = Bench(environments: [.production, .sandbox])
        bench.set {
            $0.marks[.notificationsComplete] = $0.now.adding(milliseconds: -20 * 86_400_000)
        }
        var patrol = NotificationPatrol(desk: bench.desk, door: bench.door)
        _ = Self.run(&patrol, bench)
        let first = bench.queries.prefix(4).map(\.scope.environment)
        #expect(first.contains(.production) && first.contains(.sandbox))
    }
}
