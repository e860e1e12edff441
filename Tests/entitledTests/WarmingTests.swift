import EventLoop
import Glibc
import Testing

@testable import entitled

@Suite struct WarmingTests {
    @Test(.timeLimit(.minutes(1))) func `the end of warming is said, logged, and joined`() throws {
        try withTemporaryDirectory { directory in
            let fixture = try ServingFixture(directory: directory, isWarm: false)
            defer { fixture.end() }
            let lines = Locked<[String]>([])
            let logger = Logger(
                level: .info, formatter: .text, now: { 0 },
                write: { line in lines.withLock { $0.append(line) } })
            let warming = try Warming(
                fixture.parts.service, state: fixture.parts.state, logger: logger)
            while !warming.joinIfEnded() { usleep(1_000) }
            #expect(fixture.parts.state.hasWarmed)
            #expect(lines.withLock { $0 }.contains { $0.contains("warm customers=0") })
        }
    }
}
