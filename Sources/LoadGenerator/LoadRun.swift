internal import EventLoop
internal import Synchronization

/// A run under way: threads that drive a target, and who watches them.
package final class LoadRun: Sendable {
    private let plan: LoadPlan
    private let board = LoadBoard()
    private let threads: [Thread]
    private let results: Locked<[Result<ThreadOutcome, LoadError>]>

    /// Connects and begins. Any thread.
    ///
    /// - Throws: `LoadError.system` when the system gives no thread.
    package init(_ plan: LoadPlan, _ script: LoadScript) throws(LoadError) {
        precondition((1...LoadPlan.threadCountMax).contains(plan.threadCount))
        precondition((1...LoadPlan.connectionCountMax).contains(plan.connectionCount))
        precondition((1...LoadPlan.depthMax).contains(plan.depth))
        precondition((1...LoadPlan.roundCountMax).contains(plan.roundCount))
        precondition(plan.threadCount <= plan.connectionCount)
        self.plan = plan
        let results = Locked<[Result<ThreadOutcome, LoadError>]>([])
        self.results = results
        // With its descriptors above what a shell allows: ten thousand connections are in range.
        _ = DescriptorLimit.raise(to: plan.connectionCount + 256)
        var threads: [Thread] = []
        do throws(UVError) {
            for index in 0..<plan.threadCount {
                let share = Self.share(index, of: plan)
                threads.append(
                    try Thread(name: "load-\(index)") { [board] in
                        let result = Self.result(share, plan, script, board)
                        results.withLock { $0.append(result) }
                        if case .failure = result {
                            board.isStopped.store(true, ordering: .relaxed)
                        }
                        board.endedCount.add(1, ordering: .releasing)
                    })
            }
        } catch {
            board.isStopped.store(true, ordering: .relaxed)
            for thread in threads { thread.join() }
            throw .system(operation: error.operation, code: error.code)
        }
        self.threads = threads
    }

    private static func share(_ index: Int, of plan: LoadPlan) -> ThreadShare {
        let start = plan.connectionCount * index / plan.threadCount
        let end = plan.connectionCount * (index + 1) / plan.threadCount
        return ThreadShare(index: index, connections: start..<end)
    }

    private static func result(
        _ share: ThreadShare, _ plan: LoadPlan, _ script: LoadScript, _ board: LoadBoard
    ) -> Result<ThreadOutcome, LoadError> {
        do throws(LoadError) {
            if !plan.processors.isEmpty {
                try Processors.pin([plan.processors[share.index % plan.processors.count]])
            }
            return .success(try script.drive(share, plan, board))
        } catch {
            return .failure(error)
        }
    }

    /// Whether all threads have ended; to be asked again and again, as it also gives the start once
    /// all connections stand.
    package var isOver: Bool {
        if board.readyCount.load(ordering: .acquiring) == plan.threadCount,
            board.startNanoseconds.load(ordering: .relaxed) == 0
        {
            // A millisecond from now, so that no thread is late.
            board.startNanoseconds.store(LoadClock.now + 1_000_000, ordering: .releasing)
        }
        return board.endedCount.load(ordering: .acquiring) == plan.threadCount
    }

    /// Answers so far; behind by up to 50 ms.
    package var answerCount: UInt64 { board.answerCount.load(ordering: .relaxed) }

    /// Ends the run early; what there is is its outcome.
    package func stop() { board.isStopped.store(true, ordering: .relaxed) }

    /// Waits for the end without doing anything else meanwhile.
    ///
    /// - Throws: what ended it early: the first failure of a thread.
    package func finish() throws(LoadError) -> LoadOutcome {
        while !isOver { LoadClock.sleep(nanoseconds: 2_000_000) }
        for thread in threads { thread.join() }
        let results = results.withLock { $0 }
        var outcomes: [ThreadOutcome] = []
        for result in results { outcomes.append(try result.get()) }
        return LoadOutcome(merging: outcomes)
    }
}

extension LoadOutcome {
    /// What all threads have measured, as one.
    init(merging outcomes: [ThreadOutcome]) {
        self.init(
            rounds: [], slices: [], answerCountEver: 0, wrongCount: 0, wrongAnswers: [],
            missingCount: 0, generatorBusyShare: 0, sendDelayNanosecondsMax: 0, unsentCount: 0,
            isInterrupted: false)
        let roundCount = outcomes.map(\.rounds.count).min() ?? 0
        for index in 0..<roundCount {
            rounds.append(Round(merging: outcomes.map { $0.rounds[index] }))
        }
        for outcome in outcomes {
            while slices.count < outcome.slices.count { slices.append(0) }
            for (index, count) in outcome.slices.enumerated() { slices[index] += count }
            answerCountEver += outcome.answerCount
            wrongCount += outcome.wrongCount
            wrongAnswers += outcome.wrongAnswers
            missingCount += outcome.missingCount
            generatorBusyShare = max(generatorBusyShare, outcome.busyShare)
            sendDelayNanosecondsMax = max(
                sendDelayNanosecondsMax, outcome.sendDelayNanosecondsMax)
            unsentCount += outcome.unsentCount
            isInterrupted = isInterrupted || outcome.isInterrupted
        }
    }
}

extension LoadOutcome.Round {
    /// The same round of several threads. They begin and end within a millisecond of each other.
    fileprivate init(merging rounds: [Self]) {
        self.init(
            seconds: rounds.map(\.seconds).max() ?? 0, answerCount: 0, checkCount: 0,
            latencies: Histogram())
        for round in rounds {
            answerCount += round.answerCount
            checkCount += round.checkCount
            latencies.merge(round.latencies)
        }
    }
}
