internal import EntitledClient
internal import LoadGenerator
internal import ToolSupport

/// The workload `rebuild-storm`: RebuildCustomer over customers with very many transactions, one
/// after the other without a pause, while checks of all others go on at a steady rate.
struct WriteStorm: Sendable {
    /// The population; those to rebuild are its heavy ones.
    let plan: SeedPlan
    /// How checks are asked, in an open loop, for one phase.
    let load: LoadPlan
    /// What the checks ask.
    let checks: LoadScript

    /// What a storm has shown.
    struct Outcome: Sendable {
        /// Checks while nobody is rebuilt.
        var idle: LoadOutcome
        /// Checks during the storm.
        var storm: LoadOutcome
        /// Of each rebuild, in nanoseconds, as its caller sees it.
        var rebuilds: Histogram

        /// The check p99 during the storm, of that before it.
        var checkRatio: Double {
            Double(storm.latencies.value(at: 0.99))
                / Double(max(1, idle.latencies.value(at: 0.99)))
        }
    }

    /// Measures the checks alone, then with the storm.
    ///
    /// - Throws: `CommandFailure` when a run fails or a rebuild says what is not so.
    func run(on client: Client) async throws(CommandFailure) -> Outcome {
        let idle = try await drive(nil).load
        let storm = try await drive(client)
        return Outcome(idle: idle, storm: storm.load, rebuilds: storm.rebuilds)
    }

    private func drive(
        _ client: Client?
    ) async throws(CommandFailure) -> (load: LoadOutcome, rebuilds: Histogram) {
        var rebuilds = Histogram()
        var failure: CommandFailure?
        let outcome: LoadOutcome
        do throws(LoadError) {
            let run = try LoadRun(load, checks)
            var turn = 0
            while !run.isOver {
                if Interruption.signalNumber != nil || failure != nil { run.stop() }
                guard let client, failure == nil else {
                    try? await Task.sleep(for: .milliseconds(5))
                    continue
                }
                let index = plan.heavyIndices.lowerBound + turn % plan.heavyIndices.count
                turn += 1
                do throws(CommandFailure) {
                    rebuilds.record(try await rebuild(index, on: client))
                } catch { failure = error }
            }
            outcome = try run.finish()
        } catch {
            throw failure ?? CommandFailure(error)
        }
        if let failure { throw failure }
        return (outcome, rebuilds)
    }

    /// Rebuilds one customer; in nanoseconds.
    private func rebuild(_ index: Int, on client: Client) async throws(CommandFailure) -> UInt64 {
        let clock = ContinuousClock()
        let start = clock.now
        let result: RebuildResult
        do throws(ClientError) {
            result = try await client.rebuildCustomer(
                .customer(plan.name(of: index)), source: .storedFacts)
        } catch {
            throw CommandFailure(.failed, "a rebuild failed: \(error)")
        }
        let latency = (clock.now - start).nanoseconds
        let expected = plan.expectation(of: index)
        guard result.transactionCount == plan.transactionCount(of: index),
            result.changes.isEmpty,
            result.entitlements.map(\.transactionID) == [expected.transactionID]
        else {
            throw CommandFailure(
                .failed,
                "the rebuild of customer \(index) read \(result.transactionCount) "
                    + "transactions and changed \(result.changes.count) answers")
        }
        return UInt64(max(0, latency))
    }
}
