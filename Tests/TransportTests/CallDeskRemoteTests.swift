import Entitlements
import EventLoop
import Synchronization
import Testing

@testable import Service
@testable import Session
@testable import Transport

@Suite struct CallDeskRemoteTests {
    static let rebuild = SessionCall.remote(
        .rebuild(
            RebuildRequest(
                customer: .customer("a"), source: .appStore, scope: ScopeIndex(value: 0))))

    /// An event that the ledger of these tests never looks into.
    static let event = Event(
        receivedAt: .distantPast,
        content: .rebuild(
            Event.Rebuild(
                scope: .init(bundleID: "b", environment: .production),
                identity: .init(.customer, "a"), isDryRun: true)))

    /// What holds threads back until the test lets them go.
    final class Gate: Sendable {
        private let queue = BlockingQueue<Void>(capacity: 1)
        let waiterCount = Atomic(0)

        func pass() {
            waiterCount.add(1, ordering: .relaxed)
            _ = queue.pop()
        }

        func open() { queue.close() }

        /// Waits until `count` threads have come.
        func wait(for count: Int) {
            for _ in 0..<20_000 where waiterCount.load(ordering: .relaxed) < count { pause() }
        }
    }

    // MARK: Remote calls

    @Test func `a remote call is carried out by its handler, with the time that is left`() throws {
        let timeouts = Locked<[Int64]>([])
        let bench = try CallDeskTests.Bench(
            remote: .init(
                handler: { _, context throws(Refusal) in
                    timeouts.withLock { $0.append(context.timeoutMilliseconds) }
                    throw Refusal(.appStoreThrottled, "wait", retryAfterMilliseconds: 7)
                }))
        let deadline = Int64(MonotonicClock.nowMilliseconds) + 60_000
        let job = bench.job(1, Self.rebuild, deadlineMilliseconds: deadline)
        #expect(bench.desk.submit(job))
        for _ in 0..<20_000 where timeouts.withLock(\.isEmpty) { pause() }
        #expect(bench.finish() == [1])
        #expect(try bench.reason(1) == "APP_STORE_THROTTLED")
        let timeout = try #require(timeouts.withLock(\.first))
        #expect(timeout > 0 && timeout <= 60_000)
    }

    @Test func `without a handler a remote call says that nothing is configured`() throws {
        let bench = try CallDeskTests.Bench()
        #expect(bench.desk.submit(bench.job(1, Self.rebuild)))
        #expect(bench.finish() == [1])
        #expect(try bench.reason(1) == "APP_STORE_NOT_CONFIGURED")
    }

    @Test func `who waits for Apple leaves room for the others`() throws {
        let gate = Gate()
        let bench = try CallDeskTests.Bench(
            {
                $0.remoteThreadCount = 2
                $0.remoteCallCountMax = 3
                $0.outstandingCallCountMax = 3
            },
            remote: .init(
                handler: { _, _ throws(Refusal) in
                    gate.pass()
                    throw Refusal(.appStoreIncomplete, "test")
                }, giveUp: { gate.open() }))
        for id in 1...3 { #expect(bench.desk.submit(bench.job(UInt64(id), Self.rebuild))) }
        gate.wait(for: 2)
        #expect(!bench.desk.submit(bench.job(4, Self.rebuild)))
        #expect(bench.desk.submit(bench.job(5)))
        #expect(Set(bench.finish()) == [1, 2, 3, 5])
    }

    @Test func `the end waits for no answer of Apple's`() throws {
        let gate = Gate()
        let bench = try CallDeskTests.Bench(
            { $0.remoteThreadCount = 1 },
            remote: .init(
                handler: { _, _ throws(Refusal) in
                    gate.pass()
                    throw Refusal(.appStoreIncomplete, "cut short")
                }, giveUp: { gate.open() }))
        #expect(bench.desk.submit(bench.job(1, Self.rebuild)))
        #expect(bench.desk.submit(bench.job(2, Self.rebuild)))
        gate.wait(for: 1)
        #expect(bench.finish() == [1, 2])
        #expect(try bench.reason(1) == "APP_STORE_INCOMPLETE")
        #expect(try bench.reason(2) == "DRAINING")
    }

    @Test func `a remote call that was given up is not answered, and what it committed stays`()
        throws
    {
        let gate = Gate()
        let committedCount = Atomic(0)
        let bench = try CallDeskTests.Bench(
            remote: .init(
                handler: { _, context throws(Refusal) in
                    gate.pass()
                    _ = try context.door.commit(CallDeskRemoteTests.event)
                    throw Refusal(.appStoreIncomplete, "test")
                }, giveUp: { gate.open() }),
            commit: { events in
                committedCount.add(events.count, ordering: .relaxed)
                return events.map { _ in .success(.noted(revision: 1)) }
            })
        let abandoned = bench.job(1, Self.rebuild)
        #expect(bench.desk.submit(abandoned))
        gate.wait(for: 1)
        #expect(abandoned.claim.abandon())
        let dropped = bench.job(2, Self.rebuild)
        #expect(dropped.claim.abandon())
        #expect(bench.desk.submit(dropped))
        #expect(bench.finish() == [])
        #expect(committedCount.load(ordering: .relaxed) == 1)
    }

    // MARK: The door

    @Test func `events of other threads are committed in groups, and each gets its own result`()
        throws
    {
        let groups = Locked<[Int]>([])
        let bench = try CallDeskTests.Bench(commit: { events in
            let first = groups.withLock { groups in
                groups.append(events.count)
                return groups.reduce(0, +) - events.count
            }
            return events.indices.map { .success(.noted(revision: UInt64(first + $0 + 1))) }
        })
        let door = bench.desk.door
        let revisions = Locked<[UInt64]>([])
        let threads = try (0..<8).map { index in
            try Thread(name: "door \(index)") {
                for _ in 0..<50 {
                    guard case .success(.noted(let revision)) = CallDeskRemoteTests.enter(door)
                    else { return }
                    revisions.withLock { $0.append(revision) }
                }
            }
        }
        for thread in threads { thread.join() }
        _ = bench.finish()
        #expect(revisions.withLock { $0.sorted() } == Array(1...400))
        #expect(groups.withLock { $0.reduce(0, +) } == 400)
    }

    private static func enter(_ door: CommitDoor) -> Result<WriteReply, Refusal> {
        do throws(Refusal) {
            return .success(try door.commit(event))
        } catch {
            return .failure(error)
        }
    }

    private static func reason(of result: Result<WriteReply, Refusal>?) -> RefusalReason? {
        guard case .failure(let refusal) = result else { return nil }
        return refusal.reason
    }

    @Test func `the door has room for so many, and after the end for nobody`() throws {
        let gate = Gate()
        let bench = try CallDeskTests.Bench(
            { $0.doorEventCountMax = 3 },
            commit: { events in
                gate.pass()
                return events.map { _ in .success(.noted(revision: 1)) }
            })
        let door = bench.desk.door
        let results = BlockingQueue<Result<WriteReply, Refusal>>(capacity: 8)
        let threads = try (0..<4).map { index in
            try Thread(name: "door \(index)") {
                _ = results.push(CallDeskRemoteTests.enter(door))
            }
        }
        // Three wait for the commit that hangs; the fourth is told at once.
        #expect(Self.reason(of: results.pop()) == .overloaded)
        let desk = bench.desk
        let stop = try Thread(name: "stop") { desk.stop() }
        gate.open()
        for _ in 0..<3 { #expect(Self.reason(of: results.pop()) == nil) }
        stop.join()
        for thread in threads { thread.join() }
        #expect(Self.reason(of: Self.enter(door)) == .draining)
        _ = bench.finish()
    }
}
