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

    /// How often a program has synced a file, as the counter in it keeps it.
    private func syncCount(_ path: String) throws -> UInt64 {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        func number(_ start: Int, _ byteCount: Int) -> UInt64 {
            bytes[start..<start + byteCount].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let (kindCount, rowCount) = (Int(number(8, 4)), Int(number(12, 4)))
        let kind = try #require(
            (0..<kindCount).first { bytes[(64 + 32 * $0)...].starts(with: "syncs\0".utf8) })
        let start = 64 + 32 * kindCount
        return (0..<rowCount).reduce(0) { $0 + number(start + 8 * ($1 * kindCount + kind), 8) }
    }

    /// What a killed process has written the kernel still has: only a power cut takes what was not
    /// synced. So the calls themselves are counted.
    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Programs.counter), "it is not built"))
    func `no ingest is answered before what it wrote is synced`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/counts"
        let server = try await TestServer.start(
            keeping: [directory],
            wrapper: [
                "/usr/bin/env", "LD_PRELOAD=\(Programs.counter)", "CALL_COUNTER_FILE=\(path)",
            ])
        let client = try server.client()
        defer { client.close() }
        for id in 0..<20 {
            let before = try syncCount(path)
            _ = try await client.ingestNotification(
                try server.fixtures.posted("ONE_TIME_CHARGE", "\(7_000 + id)"))
            #expect(try syncCount(path) > before)
        }
        #expect(try await server.stop() == .exit(0))
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
