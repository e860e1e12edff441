package import AppStoreServerAPI
package import Entitlements
package import EventLoop
package import Service
package import Storage
internal import Synchronization

/// Keeps what is stored true against Apple: fetches queued customers, looks for notifications that
/// never came, sweeps over family copies, and carries out the calls that ask Apple.
///
/// ```
/// dispatcher   looks at the queue every second, or when rung -> errands
/// fetchers     errands -> history from Apple -> commit door
/// timetable    notification history page by page; sweep page by page -> commit door
/// ```
///
/// All it has to remember is in the store, so it can be stopped, or crash, at any moment. Where
/// Apple's servers fail, a world is asked a few times a minute at most, however much is queued.
package final class Reconciler: Sendable {
    private let desk: ReconciliationDesk
    private let board: FetchBoard
    private let dispatcherBell: Doorbell
    private let timetableBell = Doorbell()
    private let threads = Locked<[Thread]>([])

    /// Makes one; it asks nothing before `start`.
    ///
    /// - Parameters:
    ///   - service: Whose customers.
    ///   - client: Who asks Apple.
    ///   - giveUp: Makes the client's calls fail soon, for good; any thread, more than once.
    ///   - configuration: When and how much.
    ///   - clock: The wall clock, the one of the service.
    ///   - onNotice: Told what an operator must see; called by threads of this and of the server.
    package convenience init<Store: EntitlementWriter & Sendable>(
        service: EntitlementService<Store>, client: AppStoreServerClient,
        giveUp: @escaping @Sendable () -> Void,
        configuration: ReconciliationConfiguration = ReconciliationConfiguration(),
        clock: @escaping @Sendable () -> Timestamp,
        onNotice: @escaping @Sendable (ReconciliationNotice) -> Void = { _ in }
    ) {
        self.init(
            desk: ReconciliationDesk(
                configuration: configuration, ledger: LedgerOperations(service),
                apple: AppleOperations(client, giveUp: giveUp),
                surroundings: .init(
                    now: clock, fraction: { Double.random(in: 0..<1) }, onNotice: onNotice)))
    }

    init(desk: ReconciliationDesk) {
        precondition(desk.configuration.fetchThreadCount >= 1)
        let bell = Doorbell()
        dispatcherBell = bell
        self.desk = desk
        board = FetchBoard(desk: desk) { bell.ring() }
    }

    /// What was counted. Any thread.
    package var counts: ReconciliationCounts { desk.counts }

    /// What carries out calls of clients that ask Apple, started or not.
    package var remoteWork: RemoteWork {
        let answers = RemoteAnswers(desk: desk) { [dispatcherBell] in dispatcherBell.ring() }
        return RemoteWork(
            handler: { call, context throws(Refusal) in try answers.answer(call, context) },
            giveUp: { [desk] in desk.giveUp() })
    }

    /// Starts the threads; once.
    ///
    /// - Parameter door: Where events are committed.
    /// - Throws: `UVError` when the system refuses a thread; none is left running then.
    package func start(door: CommitDoor) throws(UVError) {
        do throws(UVError) {
            try run("dispatcher") { $0.dispatch() }
            for index in 0..<desk.configuration.fetchThreadCount {
                try run("fetcher \(index)") { $0.fetch(door) }
            }
            try run("timetable") { $0.keepTimetable(door) }
        } catch {
            stop()
            throw error
        }
    }

    private func run(
        _ name: String, _ body: @escaping @Sendable (Reconciler) -> Void
    ) throws(UVError) {
        let thread = try Thread(name: name, priority: .low) { body(self) }
        threads.withLock { $0.append(thread) }
    }

    /// Ends for good, without waiting for Apple: what is under way is given up, and stays queued.
    /// The door must be open until it returns.
    package func stop() {
        desk.giveUp()
        board.close()
        dispatcherBell.ring()
        timetableBell.ring()
        let running = threads.withLock { threads in
            let running = threads
            threads = []
            return running
        }
        for thread in running { thread.join() }
    }

    /// Something was queued, so that nobody waits for the next look.
    package func wake() { dispatcherBell.ring() }

    /// Asks again at once where it paused: credentials or the network were put right.
    package func resume() {
        desk.forgetOutages()
        dispatcherBell.ring()
        timetableBell.ring()
    }
}

// MARK: - Threads

extension Reconciler {
    private func dispatch() {
        var turn = 0
        while !desk.isStopping {
            let next = board.handOut(turn: turn)
            turn = turn &+ 1 & 0xFFFF
            sleep(at: dispatcherBell, until: next)
        }
    }

    private func fetch(_ door: CommitDoor) {
        let fetcher = CustomerFetcher(desk: desk, door: door)
        while let queued = board.take() {
            guard !desk.isStopping else { continue }
            board.giveBack(queued, isStored: fetcher.fetch(queued))
        }
    }

    private func keepTimetable(_ door: CommitDoor) {
        var patrol = NotificationPatrol(desk: desk, door: door)
        var sweeper = Sweeper(desk: desk, door: door) { [dispatcherBell] in dispatcherBell.ring() }
        while !desk.isStopping {
            let next = min(patrol.turn(), sweeper.turn())
            sleep(at: timetableBell, until: next)
        }
    }

    /// Sleeps until an instant, but not beyond the next look: the clock may be set.
    private func sleep(at bell: Doorbell, until next: Timestamp) {
        let (wait, overflow) = next.milliseconds.subtractingReportingOverflow(
            desk.now.milliseconds)
        let longest = desk.configuration.pollInterval
        bell.wait(milliseconds: overflow ? longest : min(wait, longest))
    }
}
