import EntitledClient
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

/// Which deliveries were answered, with their revisions.
private final class Answered: Sendable {
    private let revisions = Mutex<[Int: UInt64]>([:])

    var all: [Int: UInt64] { revisions.withLock { $0 } }

    func add(_ index: Int, _ revision: UInt64) -> Int {
        revisions.withLock { revisions in
            revisions[index] = revision
            return revisions.count
        }
    }
}

/// The server is killed while it works: nothing that was answered may be lost.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct CrashTests {
    @Test(arguments: [5, 40, 120])
    func `a kill during ingest loses nothing that was answered`(answeredCount: Int) async throws {
        let server = try await TestServer.start()
        let client = try server.client(timeout: .seconds(10))
        let bodies = try (0..<300).map {
            try server.fixtures.posted("ONE_TIME_CHARGE", "\(7_000 + $0)")
        }
        let answered = Answered()
        await withTaskGroup(of: Void.self) { group in
            for (index, body) in bodies.enumerated() {
                group.addTask {
                    guard let result = try? await client.ingestNotification(body) else { return }
                    let count = answered.add(index, result.revision)
                    if count == answeredCount { server.process.send(SIGKILL) }
                }
            }
        }
        client.close()
        #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
        let known = answered.all
        #expect(known.count >= answeredCount)
        let second = try await server.restart()
        let reader = try second.client()
        defer { reader.close() }
        #expect(try await reader.serverInfo().revision >= known.values.max() ?? 0)
        for index in known.keys {
            let answer = try await reader.checkAccess(
                .originalTransaction("\(7_000 + index)"), product: "meadow.lifetime")
            #expect(answer.isGranted, "purchase \(index) was answered and is lost")
        }
        try await handInAgain(bodies, reader)
    }

    /// Whatever was not answered is either there whole or not at all: handing all in again gives
    /// the same state as if nothing had happened.
    private func handInAgain(_ bodies: [[UInt8]], _ client: Client) async throws {
        for body in bodies { _ = try await client.ingestNotification(body) }
        let answers = try await client.checkAccessBatch(
            bodies.indices.map {
                AccessQuestion(
                    customer: .originalTransaction("\(7_000 + $0)"),
                    subject: .product("meadow.lifetime"))
            })
        #expect(answers.answers.allSatisfy { $0.isGranted })
        #expect(try await client.serverInfo().transactionCount == 300)
    }
}
