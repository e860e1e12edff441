import Synchronization
import Testing

@testable import entitled

/// Collects lines, and is the clock.
private final class Recorder: Sendable {
    private let state = Mutex<(time: Int64, lines: [String])>((0, []))

    var time: Int64 {
        get { state.withLock { $0.time } }
        set { state.withLock { $0.time = newValue } }
    }
    var lines: [String] { state.withLock { $0.lines } }

    func append(_ line: String) { state.withLock { $0.lines.append(line) } }

    func logger(level: LogLevel = .info) -> Logger {
        Logger(
            level: level, formatter: .journal, now: { self.time }, write: { self.append($0) })
    }
}

@Suite struct LoggerTests {
    @Test func `less severe lines than the level are not written`() {
        let recorder = Recorder()
        let logger = recorder.logger(level: .warn)
        logger.debug("one")
        logger.info("two")
        logger.warn("three", .init("n", 3))
        logger.error("four")
        #expect(recorder.lines == ["<4>three n=3\n", "<3>four\n"])
        logger.level = .debug
        logger.debug("five")
        #expect(recorder.lines.last == "<7>five\n")
    }

    @Test func `repeats over the burst are counted and the count is written`() {
        let recorder = Recorder()
        let logger = recorder.logger()
        for number in 0..<25 { logger.warn("refused", .init("n", number)) }
        #expect(recorder.lines.count == Logger.burstCountMax)
        recorder.time = Logger.windowMilliseconds - 1
        logger.info("another")
        #expect(recorder.lines.last == "<6>another\n")
        recorder.time = Logger.windowMilliseconds
        logger.info("a third")
        #expect(
            recorder.lines.suffix(2) == ["<4>refused repeats_not_shown=15\n", "<6>a third\n"])
        logger.warn("refused")
        #expect(recorder.lines.last == "<4>refused\n")
    }

    @Test func `the end of the process writes the counts that are held back`() {
        let recorder = Recorder()
        let logger = recorder.logger()
        for _ in 0..<(Logger.burstCountMax + 2) { logger.info("again") }
        logger.flush()
        #expect(recorder.lines.last == "<6>again repeats_not_shown=2\n")
        let count = recorder.lines.count
        logger.flush()
        #expect(recorder.lines.count == count)
    }

    @Test func `one message at two levels is two messages`() {
        let recorder = Recorder()
        let logger = recorder.logger()
        for _ in 0..<Logger.burstCountMax {
            logger.info("same")
            logger.warn("same")
        }
        #expect(recorder.lines.count == 2 * Logger.burstCountMax)
    }

    @Test func `a clock that is set back does not silence a message for ever`() {
        let recorder = Recorder()
        recorder.time = 1_000_000
        let logger = recorder.logger()
        for _ in 0..<(Logger.burstCountMax + 1) { logger.info("again") }
        recorder.time = 5
        logger.info("again")
        #expect(recorder.lines.suffix(2) == ["<6>again repeats_not_shown=1\n", "<6>again\n"])
    }

    @Test func `a flood of different messages is written and remembered in bounds`() {
        let recorder = Recorder()
        let logger = recorder.logger()
        for number in 0..<(2 * Logger.watchedCountMax) { logger.info("message \(number)") }
        #expect(recorder.lines.count == 2 * Logger.watchedCountMax)
    }

    @Test func `lines of many threads do not mix`() async {
        let recorder = Recorder()
        let logger = recorder.logger()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<200 { logger.info("t\(thread) n\(number)") }
                }
            }
        }
        #expect(recorder.lines.count == 1_600)
        #expect(recorder.lines.allSatisfy { $0.hasPrefix("<6>t") && $0.hasSuffix("\n") })
    }
}
