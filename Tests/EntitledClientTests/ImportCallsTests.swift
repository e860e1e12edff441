import EventLoop
import Testing
import Wire

@testable import EntitledClient

@Suite(.timeLimit(.minutes(1))) struct ImportCallsTests {
    @Test func `what is handed in and what became of it are told as they are`() async throws {
        var problem = Message.ImportProblem()
        (problem.position, problem.status) = (1, .init(rawValue: 9))
        (problem.reason, problem.message, problem.takenIn) = ("R", "m", true)
        var response = Message.ImportTransactionsResponse()
        (response.problems, response.learnt, response.revision) = ([problem], 2, 3)
        response.changes = [Message.Change()]
        var evidence = TransactionEvidence()
        evidence.datelessRevokeMilliseconds = 1
        evidence.grantNotificationMilliseconds = 2
        evidence.activeStatusMilliseconds = 3
        evidence.datedCopyMilliseconds = 4
        let transaction = ImportedTransaction(
            customer: .originalTransaction("o"), signedTransaction: "t", signedRenewal: "r",
            evidence: evidence, isChainLinked: true)
        let request = try await FakeServer.sent(answering: .importTransactions(response)) {
            let result = try await $0.importTransactions(
                [transaction], isDryRun: true, scope: Scope(bundleID: "b", environment: .sandbox))
            let refusal = Refusal(status: .failedPrecondition, reason: "R", message: "m")
            #expect(
                result.problems == [ImportProblem(position: 1, refusal: refusal, isTakenIn: true)])
            #expect(result.learntCount == 2 && result.revision == 3 && result.changes.count == 1)
        }
        var row = Message.ImportedTransaction()
        row.customer = .originalTransactionID("o")
        (row.signedTransaction, row.signedRenewal, row.chainLinked) = ("t", "r", true)
        (row.datelessRevokeMilliseconds, row.grantNotificationMilliseconds) = (1, 2)
        (row.activeStatusMilliseconds, row.datedCopyMilliseconds) = (3, 4)
        var expected = Message.ImportTransactionsRequest()
        expected.scope = .init(bundleID: "b", environment: .sandbox)
        (expected.rows, expected.dryRun) = ([row], true)
        #expect(request.call == .importTransactions(expected))
    }
}
