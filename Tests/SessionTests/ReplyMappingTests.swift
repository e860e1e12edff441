import Session
import TestSupport
import Testing
import Wire

@Suite struct ReplyMappingTests {
    @Test func `a notification's answer says what became of it`() throws {
        let bench = try SessionBench()
        let transaction = try bench.fixtures.transaction(
            "2000000100000009", product: "meadow.lifetime", purchased: SessionBench.now - 1000)
        let jws = try bench.fixtures.notification(
            "ONE_TIME_CHARGE", uuid: "uuid-1", signed: SessionBench.now,
            data: bench.fixtures.notificationData(transaction: transaction))
        let request = Request(id: 1, call: .ingestNotification(.init(payload: jws)))
        for disposition in [Message.Disposition.applied, .duplicate] {
            let answer = try bench.ask(request)
            guard case .ingestNotification(let result) = answer.result else {
                Issue.record("\(answer)")
                return
            }
            #expect(result.disposition == disposition)
            #expect(result.notificationUUID == "uuid-1")
            #expect(result.notificationType == "ONE_TIME_CHARGE")
        }
    }

    @Test func `what is not signed by Apple is refused by reason`() throws {
        let bench = try SessionBench()
        for (payload, reason) in [("{}", "MALFORMED_PAYLOAD"), ("", "MALFORMED_PAYLOAD")] {
            let request = Request(
                id: 1, call: .ingestNotification(.init(payload: Array(payload.utf8))))
            let answer = try bench.ask(request)
            #expect(answer.status == .invalidArgument)
            #expect(answer.reason == Text(reason))
            #expect(!answer.message.isEmpty)
        }
    }

    @Test func `a rebuild tells what it read and what holds now`() throws {
        let bench = try SessionBench()
        _ = try bench.buy("c-ana", ["2000000100000001", "2000000100000002"])
        var rebuild = Message.RebuildCustomerRequest()
        rebuild.customer = .customerID("c-ana")
        for isDryRun in [true, false] {
            rebuild.dryRun = isDryRun
            let answer = try bench.ask(Request(id: 2, call: .rebuildCustomer(rebuild)))
            guard case .rebuildCustomer(let result) = answer.result else {
                Issue.record("\(answer)")
                return
            }
            #expect(result.source == .storedFacts)
            #expect(result.transactionsRead == 2)
            #expect(result.changes.isEmpty)
            #expect(result.entitlements.map(\.granted) == [true])
        }
        rebuild.source = .init(rawValue: 9)
        let unknown = try bench.ask(Request(id: 2, call: .rebuildCustomer(rebuild)))
        #expect(unknown.reason == "INVALID_FIELD")
        rebuild.source = .appStore
        let notConfigured = try bench.ask(Request(id: 2, call: .rebuildCustomer(rebuild)))
        #expect(notConfigured.reason == "APP_STORE_NOT_CONFIGURED")
        #expect(notConfigured.status == .failedPrecondition)
    }
}
