internal import EntitledClient
internal import ToolSupport

/// Work of many calls: it waits where the server says so, and Ctrl-C ends it where it can be gone
/// on from.
enum LongWork {
    /// So often one call is tried without any success in between.
    private static let attemptCountMax = 8
    /// A longer wait is not sat out: the work can be gone on with later.
    private static let waitMax = Duration.seconds(15 * 60)

    /// Carries out `body`; Ctrl-C and SIGTERM cancel what it awaits.
    static func cancellable<Value: Sendable>(
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        Interruption.watch()
        let work = Task { await body() }
        let watcher = Task {
            while !Task.isCancelled {
                if Interruption.signalNumber != nil { return work.cancel() }
                // A cancelled sleep returns at once, and the loop ends.
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        defer { watcher.cancel() }
        return await work.value
    }

    /// Tries a call that may be repeated until it succeeds, is refused for good, or there is no use
    /// in waiting.
    static func retrying<Value: Sendable>(
        _ what: String, _ console: Console,
        _ body: @Sendable () async throws(ClientError) -> Value
    ) async throws(ClientError) -> Value {
        var attemptCount = 0
        while true {
            do throws(ClientError) {
                return try await body()
            } catch {
                attemptCount += 1
                guard attemptCount < attemptCountMax,
                    let wait = wait(after: error, attemptCount: attemptCount), wait <= waitMax
                else { throw error }
                let time = TimeSpan.text(milliseconds: UInt64(wait.milliseconds))
                console.detail("\(what): \(error); again in \(time)")
                try await sleep(wait)
            }
        }
    }

    /// How long to wait before the next attempt; nil where none would help.
    static func wait(after error: ClientError, attemptCount: Int) -> Duration? {
        let backoff = Duration.milliseconds(250 << min(attemptCount, 6))
        switch error {
        case .refused(let refusal):
            guard refusal.status == .unavailable || refusal.status == .resourceExhausted else {
                return nil
            }
            let said = Int64(clamping: refusal.retryAfterMilliseconds)
            return said > 0 ? .milliseconds(said) : backoff
        case .deadlineExceeded, .connectionFailed, .connectionLost: return backoff
        default: return nil
        }
    }

    static func sleep(_ time: Duration) async throws(ClientError) {
        do {
            try await Task.sleep(for: time)
        } catch {
            throw .cancelled
        }
    }

    /// What a failure of the work means, and how to go on.
    static func stopped(
        _ error: ClientError, _ invocation: Invocation, goOn: String
    ) -> CommandFailure {
        let isInterrupted = error == .cancelled && Interruption.signalNumber != nil
        let failure = CommandFailure(error, address: invocation.address)
        return CommandFailure(
            isInterrupted ? .interrupted : failure.status,
            isInterrupted ? "interrupted" : failure.message,
            hint: failure.hint.isEmpty ? goOn : failure.hint + "\n" + goOn)
    }

    /// How many a second `--rate` allows; nil = as many as go.
    ///
    /// - Throws: `CommandFailure` when it is no rate.
    static func rate(_ invocation: Invocation) throws(CommandFailure) -> Double? {
        guard let text = invocation.value("rate") else { return nil }
        let number = text.hasSuffix("/s") ? text.dropLast(2) : text[...]
        guard let rate = Double(number), rate >= 0.001, rate <= 100_000 else {
            throw CommandFailure(.usage, "--rate: `\(text)` is no number a second such as 5/s")
        }
        return rate
    }

    /// The command line that goes on with a token, fit to be pasted into a shell.
    static func resumption(_ command: String, _ token: String, _ flags: [String]) -> String {
        let quoted =
            "'"
            + token.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
        return (["go on with: entitlectl \(command) --resume \(quoted)"] + flags)
            .joined(separator: " ")
    }
}

/// Lets so many pass a second.
actor Pace {
    private let interval: Duration?
    private var nextInstant = ContinuousClock.now

    init(ratePerSecond: Double?) {
        interval = ratePerSecond.map { .microseconds(Int64(1_000_000 / $0)) }
    }

    /// Waits until the next may begin, of which there are `count`.
    func next(_ count: Int = 1) async throws(ClientError) {
        guard let interval else { return }
        let now = ContinuousClock.now
        let instant = max(nextInstant, now)
        nextInstant = instant + interval * count
        try await LongWork.sleep(instant - now)
    }
}
