internal import Synchronization

/// What has been done of a long piece of work, told on stderr: on a terminal a bar that is
/// rewritten in place, else one line every 10 s; nothing with `-q`.
package final class Progress: Sendable {
    private struct State {
        var done = 0
        var total: Int?
        var toldAt: ContinuousClock.Instant?
        var width = 0
    }

    private static let terminalInterval = Duration.milliseconds(100)
    private static let lineInterval = Duration.seconds(10)

    private let console: Console
    private let isTerminal: Bool
    /// What is counted, in the plural.
    private let noun: String
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    /// Nothing is told before the first `update`.
    package init(
        console: Console, noun: String, isTerminal: Bool = SystemCalls.isTerminal(.error)
    ) {
        self.console = console
        self.noun = noun
        self.isTerminal = isTerminal
    }

    /// Tells that so much is done; `total` may become known, or change, on the way.
    package func update(done: Int, total: Int?) {
        let now = ContinuousClock.now
        let interval = isTerminal ? Self.terminalInterval : Self.lineInterval
        state.withLock { state in
            state.done = done
            state.total = total
            // Without a terminal the first line comes after the first interval.
            let last = state.toldAt ?? (isTerminal ? nil : start)
            if let last, now - last < interval { return }
            state.toldAt = now
            let text = Self.text(
                done: done, total: total, noun: noun, elapsed: now - start, withBar: isTerminal)
            if isTerminal {
                let padding = String(repeating: " ", count: max(0, state.width - text.count))
                state.width = text.count
                console.rewrite("\r" + text + padding)
            } else {
                console.note(text)
            }
        }
    }

    /// Takes the bar away, for a line that stays.
    package func erase() {
        guard isTerminal else { return }
        state.withLock { state in
            guard state.width > 0 else { return }
            console.rewrite("\r" + String(repeating: " ", count: state.width) + "\r")
            state.width = 0
            state.toldAt = nil
        }
    }

    /// `[#####     ] 123/456 customers, 45/s, 7 s left`.
    package static func text(
        done: Int, total: Int?, noun: String, elapsed: Duration, withBar: Bool
    ) -> String {
        let milliseconds = max(1, elapsed.milliseconds)
        let rate = Double(done) * 1_000 / Double(milliseconds)
        var text = ""
        if let total, total > 0, withBar {
            let filled = min(20, done * 20 / total)
            text +=
                "[" + String(repeating: "#", count: filled)
                + String(repeating: " ", count: 20 - filled) + "] "
        }
        text += total.map { "\(done)/\(max($0, done)) \(noun)" } ?? "\(done) \(noun)"
        text += rate >= 10 ? ", \(Int(rate))/s" : ", \(Double(Int(rate * 10)) / 10)/s"
        if let total, done > 0, total > done {
            let left = Double(total - done) * Double(milliseconds) / Double(done)
            text += ", \(TimeSpan.text(milliseconds: UInt64(left))) left"
        }
        return text
    }
}

extension Duration {
    /// Whole milliseconds.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
