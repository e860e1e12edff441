import EntitledClient
import FoundationEssentials
import Testing
import Wire

/// Clients and servers of different releases.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct CompatibilityTests {
    @Test func `every call of the first release is answered as it was`() async throws {
        let server = try await TestServer.start()
        let connection = try RawConnection(to: server.address)
        #expect(GoldenFrame.all.count == 15)
        for (index, frame) in GoldenFrame.all.enumerated() {
            try await connection.send(frame.bytes)
            let answer = try #require(try await connection.answers(1).first)
            #expect(answer.id == UInt64(101 + index), "\(frame)")
            #expect(answer.status == frame.status, "\(frame): \(answer.message)")
            #expect(answer.reason == Text(frame.reason), "\(frame): \(answer.message)")
            #expect((answer.result != nil) == (frame.status == .ok), "\(frame)")
        }
        try await server.stop()
    }

    /// What a server says that does not know a call.
    private static func unknown(_ request: Request) -> Response {
        Response(
            id: request.id, status: .unimplemented, reason: "UNKNOWN_CALL",
            message: "this release does not know the call")
    }

    @Test func `an older server is named as such by the tool`() async throws {
        let server = try ScriptedServer { Self.unknown($0) }
        let directory = try TemporaryDirectory()
        for arguments in [["backup", "create"], ["audit"], ["reconciliation"]] {
            let result = try await server.tool(arguments, in: directory)
            #expect(result.end == .exit(1) && result.output.isEmpty)
            #expect(result.errorOutput.contains("UNKNOWN_CALL"), "\(result.errorOutput)")
            #expect(result.errorOutput.contains("older than this tool"), "\(result.errorOutput)")
        }
    }

    @Test func `an older server's refusal reaches a client as what it is`() async throws {
        let server = try ScriptedServer { Self.unknown($0) }
        var configuration = ClientConfiguration()
        // A hundred processes of other tests may run at the same time.
        configuration.timeout = .seconds(60)
        let client = try Client(address: server.address, configuration: configuration)
        defer { client.close() }
        await #expect {
            _ = try await client.createBackup(name: "one")
        } throws: {
            guard case .refused(let refusal)? = $0 as? ClientError else { return false }
            return refusal.status == .unimplemented && refusal.reason == "UNKNOWN_CALL"
        }
    }

    @Test func `answers without the fields of today are taken`() async throws {
        let server = try ScriptedServer { request in
            switch request.call {
            case .getServerInfo: Response(id: request.id, result: .getServerInfo(.init()))
            case .getCustomer: Response(id: request.id, result: .getCustomer(.init()))
            case .checkAccess: Response(id: request.id, result: .checkAccess(.init()))
            default: Self.unknown(request)
            }
        }
        let directory = try TemporaryDirectory()
        for arguments in [["health"], ["customer", "show", "u-1"], ["check", "u-1", "p"]] {
            let result = try await server.tool(arguments, in: directory)
            #expect(result.end == .exit(0), "\(arguments): \(result.errorOutput)")
            #expect(!result.output.isEmpty)
        }
    }
}
