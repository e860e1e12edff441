internal import FoundationEssentials
internal import LoadGenerator
internal import OpenSSL
internal import Synchronization
internal import ToolSupport

/// The workloads `ingest` and `mixed`: presigned notifications, alone or among checks.
struct WriteRun: Sendable {
    /// How the server is driven.
    let load: LoadPlan
    /// What is said.
    let mix: WriteMix
    /// What there is to hand in.
    let stock: WriteStock
    /// What the server has acknowledged so far.
    let oracle: WriteOracle
    /// The server's process, to tell what it used; nil: it is not ours.
    let serverID: Int32?
    /// What every request shows; empty = nothing.
    var apiKey = ""

    /// So many notifications per second are signed before a run: two fast processors verify fewer.
    static let eventsPerSecondMax = 8_000.0

    /// What a run has shown.
    struct Outcome: Sendable {
        /// As the driver saw it.
        var load: LoadOutcome
        /// Of the ingests alone, in nanoseconds, from the moment that they were made.
        var ingests = Histogram()
        /// Of the checks alone.
        var checks = Histogram()
        /// Ingests that were acknowledged, the warm-up included.
        var appliedCount = 0
        /// Checks that had to show an acknowledged event.
        var freshCheckCount = 0
        /// Events that were taken from the stock.
        var takenCount = 0
        /// Notifications that had to be signed during the run.
        var lateCount = 0
        /// Processor time of the server over the whole run, in nanoseconds; nil: not known.
        var serverNanoseconds: Int64?
        /// Wall time of the whole run, in nanoseconds.
        var wallNanoseconds: Int64 = 0
        /// One ES256 verification alone, on one processor, right after the run, in nanoseconds.
        var verificationNanoseconds: Double = 0

        /// Durable ingests per second over the whole run.
        var ingestsPerSecond: Double {
            Double(appliedCount) * 1e9 / Double(max(1, wallNanoseconds))
        }
        /// Processor time of the server per ingest, in nanoseconds; checks of a mix count in it.
        var serverNanosecondsPerIngest: Double? {
            serverNanoseconds.map { Double($0) / Double(max(1, appliedCount)) }
        }
        /// What three verifications take, as a share of what the server used per ingest: 1 would
        /// be a server that does nothing else.
        var verificationShare: Double? {
            serverNanosecondsPerIngest.map { 3 * verificationNanoseconds / $0 }
        }
        /// The durable rate as a share of what verification alone allows on one processor.
        var rateShare: Double { ingestsPerSecond * 3 * verificationNanoseconds / 1e9 }
    }

    /// Drives the server; the calling thread waits.
    ///
    /// - Throws: `CommandFailure` when the run itself fails; wrong answers are in the outcome.
    func run() throws(CommandFailure) -> Outcome {
        let common = WriteDialogue.Common(
            stock: stock, oracle: oracle, mix: mix, apiKey: apiKey)
        let clock = ContinuousClock()
        let usedBefore = serverID.flatMap { Processors.nanosecondsUsed(byProcess: $0) }
        let start = clock.now
        let outcome: LoadOutcome
        do throws(LoadError) {
            let run = try LoadRun(load, .foreign { WriteDialogue(common, $0) })
            outcome = try run.finish()
        } catch {
            throw CommandFailure(error)
        }
        let wall = (clock.now - start).nanoseconds
        let usedAfter = serverID.flatMap { Processors.nanosecondsUsed(byProcess: $0) }
        var result = Outcome(load: outcome)
        result.ingests = common.ingests.withLock { $0 }
        result.checks = common.checks.withLock { $0 }
        result.appliedCount = common.appliedCount.load(ordering: .relaxed)
        result.freshCheckCount = common.freshCheckCount.load(ordering: .relaxed)
        result.takenCount = stock.takenCount
        result.lateCount = stock.lateCount
        if let usedBefore, let usedAfter { result.serverNanoseconds = usedAfter - usedBefore }
        result.wallNanoseconds = wall
        result.verificationNanoseconds = try VerificationLoop.nanoseconds(for: .milliseconds(700))
        return result
    }
}

/// What one ES256 verification takes by itself: the floor under every ingest.
enum VerificationLoop {
    /// A signing input of the size of a signed transaction with its three certificates.
    private static let messageByteCount = 2_300

    /// Verifies one signature over and over, on the calling thread, while this process does nothing
    /// else.
    ///
    /// - Returns: Nanoseconds of a processor for one, of the best of seven stretches: what other
    ///   processes take away meanwhile must not make the server look better.
    /// - Throws: `CommandFailure` when the library refuses.
    static func nanoseconds(for duration: Duration) throws(CommandFailure) -> Double {
        let message = (0..<messageByteCount).map { UInt8(truncatingIfNeeded: 65 + $0 % 57) }
        do throws(OpenSSLError) {
            let key = try SigningKey(generatedOn: .p256)
            let signature = try key.signature(of: message.span)
            let publicKey = key.es256PublicKey()
            return best(of: 7, for: duration) {
                publicKey?.isValid(signature: signature.span, of: message.span) == true
            }
        } catch {
            throw CommandFailure(.failed, "a signature cannot be made: \(error)")
        }
    }

    private static func best(
        of count: Int, for duration: Duration, _ verify: () -> Bool
    ) -> Double {
        let clock = ContinuousClock()
        let own = ProcessInfo.processInfo.processIdentifier
        var best = Double.infinity
        for _ in 0..<count {
            let start = clock.now
            let usedBefore = Processors.nanosecondsUsed(byProcess: own) ?? 0
            var verifiedCount = 0
            while clock.now - start < duration / count || verifiedCount == 0 {
                for _ in 0..<50 { precondition(verify(), "a signature of our own is valid") }
                verifiedCount += 50
            }
            let used = (Processors.nanosecondsUsed(byProcess: own) ?? 0) - usedBefore
            best = min(best, Double(used) / Double(verifiedCount))
        }
        return best
    }
}
