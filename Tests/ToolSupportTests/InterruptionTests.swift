import Glibc
import Testing

@testable import ToolSupport

@Suite struct InterruptionTests {
    @Test func `a first signal is noted, a second one ends the tool`() async {
        await #expect(processExitsWith: .exitCode(ExitStatus.interrupted.rawValue)) {
            Interruption.watch(endsAtOnce: false)
            Self.send(SIGINT)
            guard Interruption.signalNumber == SIGINT else { exit(1) }
            kill(getpid(), SIGTERM)
            sleep(10)
            exit(2)
        }
    }

    /// Sends a signal to the process, for the threads of tests block them, and waits for it.
    private static func send(_ number: Int32) {
        kill(getpid(), number)
        for _ in 0..<1_000 where Interruption.signalNumber != number { usleep(10_000) }
    }

    @Test func `a tool that ends its process at once goes on by itself`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Interruption.watch()
            Self.send(SIGINT)
            Self.send(SIGTERM)
            exit(Interruption.signalNumber == SIGTERM ? 7 : 1)
        }
    }
}
