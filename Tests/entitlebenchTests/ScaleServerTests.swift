import FoundationEssentials
import Testing
import ToolSupport

@testable import entitlebench

/// The server's program, built beside the tests.
private let program = try? ServerPlace.findProgram(named: nil, environment: [:])

@Suite(.enabled(if: program != nil, "the program is not built"))
struct ScaleServerTests {
    private let directory: SeedDirectory

    init() throws { directory = try SeedDirectory() }

    private func run(_ program: String, heavyTransactionCount: Int) -> ScaleRun {
        var run = ScaleRun(
            program: program, directory: directory.path, serverProcessors: [],
            generatorProcessors: [], environment: [:])
        run.heavyTransactionCount = heavyTransactionCount
        run.seconds = 0.2
        return run
    }

    /// Every answer on the way is checked: a wrong one throws.
    @Test func `a small store with one long history is measured whole, and leaves nothing`()
        async throws
    {
        let figures = try await run(try #require(program), heavyTransactionCount: 600)
            .measure(customerCount: 60)
        #expect(figures.customerCount == 60)
        #expect(figures.firstAnswerNanoseconds > 0)
        #expect(figures.warmMilliseconds != nil)
        #expect(figures.residentByteCount > 1 << 20)
        #expect(figures.checkNanoseconds > 0 && figures.warmPerSecond > 0)
        #expect(figures.ingestsPerSecond > 0 && figures.ingestNanoseconds > 0)
        for latency in [
            figures.heavyColdNanoseconds, figures.heavyHotNanoseconds,
            figures.heavyRefundNanoseconds, figures.heavyReversalNanoseconds,
            figures.heavyCopyNanoseconds, figures.heavyRevokeNanoseconds,
            figures.heavyRebuildNanoseconds,
        ] {
            #expect(latency > 0)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `a program that is no server is told, and leaves nothing`() async throws {
        let run = run("/bin/false", heavyTransactionCount: 0)
        await #expect(throws: CommandFailure.self) { try await run.measure(customerCount: 60) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }
}
