import Entitlements
import Service
import Session
import Testing
import Wire

@Suite struct DataCallsTests {
    private func call(_ request: Request.Call) throws -> (call: SessionCall?, answer: Response?) {
        let bench = try SessionBench()
        try bench.send(Request(id: 1, call: request))
        return (bench.taken.first?.call, try bench.answers().first)
    }

    @Test func `a backup is asked for by its name`() throws {
        var request = Message.CreateBackupRequest()
        request.name = "one"
        request.followUp = true
        guard case .read(.backup(let backup)) = try call(.createBackup(request)).call else {
            Issue.record("no backup")
            return
        }
        #expect(backup == BackupRequest(name: "one", isFollowUp: true))
    }

    @Test func `a name that is too long or no text is refused`() throws {
        for name in [
            Text(String(repeating: "a", count: 4_097)), Text([0xFF]),
        ] {
            var request = Message.CreateBackupRequest()
            request.name = name
            #expect(try call(.createBackup(request)).answer?.reason == "INVALID_FIELD")
        }
    }

    @Test func `what is told of a backup goes out as it is`() throws {
        var status = BackupStatus(
            name: "n", path: "/p", createdAt: Timestamp(milliseconds: 5))
        status.isComplete = true
        status.revision = 6
        status.fileCount = 7
        status.byteCount = 8
        status.doneByteCount = 9
        status.durationMilliseconds = 10
        let bench = try SessionBench()
        bench.read = { [status] (_) throws(Refusal) in .backup(status) }
        let result = try bench.ask(Request(id: 1, call: .createBackup(.init()))).result
        var expected = Message.CreateBackupResponse()
        (expected.name, expected.path, expected.complete) = ("n", "/p", true)
        (expected.revision, expected.files, expected.bytes) = (6, 7, 8)
        (expected.bytesDone, expected.createdAtMilliseconds) = (9, 5)
        expected.durationMilliseconds = 10
        #expect(result == .createBackup(expected))
    }
}
