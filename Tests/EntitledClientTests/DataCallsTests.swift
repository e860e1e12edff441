import EventLoop
import Testing
import Wire

@testable import EntitledClient

@Suite(.timeLimit(.minutes(1))) struct DataCallsTests {
    @Test func `a backup is begun by its name and asked about by it`() async throws {
        var response = Message.CreateBackupResponse()
        (response.name, response.path, response.complete) = ("n", "/p/n", true)
        (response.revision, response.files, response.bytes, response.bytesDone) = (1, 2, 3, 4)
        (response.createdAtMilliseconds, response.durationMilliseconds) = (5, 6)
        for isFollowUp in [false, true] {
            let request = try await FakeServer.sent(answering: .createBackup(response)) { client in
                let state =
                    isFollowUp
                    ? try await client.backupProgress(of: "n")
                    : try await client.createBackup(name: "n")
                #expect(state.name == "n" && state.path == "/p/n" && state.isComplete)
                #expect(state.revision == 1 && state.fileCount == 2 && state.byteCount == 3)
                #expect(state.doneByteCount == 4 && state.createdAtMilliseconds == 5)
                #expect(state.durationMilliseconds == 6)
            }
            var expected = Message.CreateBackupRequest()
            expected.name = "n"
            expected.followUp = isFollowUp
            #expect(request.call == .createBackup(expected))
        }
    }
}
