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

    @Test func `somebody is forgotten by a name and asked about by his number`() async throws {
        var response = Message.ForgetCustomerResponse()
        (response.customerNumber, response.names, response.namesTotal) = (1, ["a:b"], 2)
        (response.transactions, response.payloads, response.auditEntries) = (3, 4, 5)
        (response.inHousehold, response.wasQueued, response.erased) = (true, true, true)
        response.revision = 6
        for isFollowUp in [false, true] {
            let answer = Response.Result.forgetCustomer(response)
            let request = try await FakeServer.sent(answering: answer) { client in
                let told =
                    isFollowUp
                    ? try await client.forgottenCustomer(number: 1)
                    : try await client.forgetCustomer(.customer("u"), isDryRun: true)
                #expect(
                    told
                        == ForgottenCustomer(
                            number: 1, names: ["a:b"], nameCount: 2, transactionCount: 3,
                            payloadCount: 4, auditEntryCount: 5, isInHousehold: true,
                            wasQueued: true, isErased: true, revision: 6))
            }
            guard case .forgetCustomer(let sent) = request.call else {
                Issue.record("\(String(describing: request.call))")
                return
            }
            #expect(sent.customer == (isFollowUp ? nil : Message.CustomerRef.customerID("u")))
            #expect(sent.dryRun == !isFollowUp && sent.followUpNumber == (isFollowUp ? 1 : 0))
        }
    }
}
