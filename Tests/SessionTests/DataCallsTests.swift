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

    private func imported(_ rows: [Message.ImportedTransaction]) -> Request.Call {
        var message = Message.ImportTransactionsRequest()
        message.rows = rows
        message.dryRun = true
        return .importTransactions(message)
    }

    @Test func `rows of an import are handed on as they are`() throws {
        var row = Message.ImportedTransaction()
        row.customer = .appTransactionID("A")
        (row.signedTransaction, row.signedRenewal, row.chainLinked) = ("t", "r", true)
        (row.datelessRevokeMilliseconds, row.grantNotificationMilliseconds) = (1, 2)
        (row.activeStatusMilliseconds, row.datedCopyMilliseconds) = (3, -4)
        guard case .write(.importing(let request)) = try call(imported([row])).call else {
            Issue.record("no import")
            return
        }
        var evidence = Evidence()
        evidence.datelessRevoke = Timestamp(milliseconds: 1)
        evidence.grantNotification = Timestamp(milliseconds: 2)
        evidence.activeStatus = Timestamp(milliseconds: 3)
        evidence.datedCopy = Timestamp(milliseconds: -4)
        let expected = ImportRow(
            customer: .appTransaction("A"), signedTransaction: Array("t".utf8),
            signedRenewal: Array("r".utf8), evidence: evidence, isChainLinked: true)
        #expect(request == ImportRequest(scope: request.scope, rows: [expected], isDryRun: true))
    }

    @Test func `an import of too many rows, or of nobody's, is refused`() throws {
        var row = Message.ImportedTransaction()
        #expect(try call(imported([row])).answer?.reason == "INVALID_IDENTIFIER")
        row.customer = .customerID("a")
        let many = [Message.ImportedTransaction](repeating: row, count: 1_001)
        #expect(try call(imported(many)).answer?.reason == "INVALID_FIELD")
        #expect(try call(imported(Array(many.dropLast()))).answer == nil)
    }

    @Test func `what became of an import goes out as it is`() throws {
        let bench = try SessionBench()
        var row = Message.ImportedTransaction()
        row.customer = .customerID("a")
        row.signedTransaction = "a.b.c"
        guard
            case .importTransactions(let answer) = try bench.ask(
                Request(id: 1, call: imported([row, row]))
            ).result
        else {
            Issue.record("no answer")
            return
        }
        #expect(answer.problems.map(\.position) == [0, 1])
        #expect(answer.problems.map(\.reason) == ["MALFORMED_PAYLOAD", "MALFORMED_PAYLOAD"])
        #expect(answer.problems.allSatisfy { $0.status.rawValue == 3 && !$0.takenIn })
        #expect(answer.problems.allSatisfy { !$0.message.isEmpty })
        #expect(answer.learnt == 0 && answer.changes.isEmpty && answer.revision == 0)
    }

    private func forget(
        _ change: (inout Message.ForgetCustomerRequest) -> Void
    ) throws -> (call: SessionCall?, answer: Response?) {
        var request = Message.ForgetCustomerRequest()
        change(&request)
        return try call(.forgetCustomer(request))
    }

    @Test func `who is to be forgotten is named as anywhere, or by his number afterwards`() throws {
        let asked = try forget {
            $0.customer = .appAccountToken("AB")
            $0.dryRun = true
        }
        guard case .write(.forget(let request)) = asked.call else {
            Issue.record("no call to forget")
            return
        }
        #expect(
            request
                == ForgetRequest(customer: .appAccountToken("ab"), isDryRun: true, scope: .first))
        guard case .read(.forgotten(let query)) = try forget({ $0.followUpNumber = 7 }).call else {
            Issue.record("no question")
            return
        }
        #expect(query == ForgottenQuery(number: 7, scope: .first))
    }

    @Test func `nobody, and somebody beside a number, are refused`() throws {
        #expect(try forget { _ in }.answer?.reason == "INVALID_IDENTIFIER")
        let both = try forget {
            $0.customer = .customerID("u")
            $0.followUpNumber = 7
        }
        #expect(both.answer?.reason == "INVALID_FIELD")
        let dry = try forget {
            $0.dryRun = true
            $0.followUpNumber = 7
        }
        #expect(dry.answer?.reason == "INVALID_FIELD")
    }

    @Test func `what is told of somebody forgotten goes out as it is`() throws {
        var reply = ForgetReply(number: 1)
        (reply.names, reply.nameCount, reply.transactionCount) = (["a:b"], 2, 3)
        (reply.payloadCount, reply.auditCount, reply.isInHousehold) = (4, 5, true)
        (reply.wasQueued, reply.isErased, reply.revision) = (true, true, 6)
        let bench = try SessionBench()
        bench.read = { [reply] (_) throws(Refusal) in .forgotten(reply) }
        var request = Message.ForgetCustomerRequest()
        request.followUpNumber = 1
        let result = try bench.ask(Request(id: 1, call: .forgetCustomer(request))).result
        var expected = Message.ForgetCustomerResponse()
        (expected.customerNumber, expected.names, expected.namesTotal) = (1, ["a:b"], 2)
        (expected.transactions, expected.payloads, expected.auditEntries) = (3, 4, 5)
        (expected.inHousehold, expected.wasQueued, expected.erased) = (true, true, true)
        expected.revision = 6
        #expect(result == .forgetCustomer(expected))
    }
}
