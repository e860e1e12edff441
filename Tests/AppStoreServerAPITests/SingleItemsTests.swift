import AppStore
import AppStoreServerAPI
import Entitlements
import HTTP
import TestSupport
import Testing

@Suite struct SingleItemsTests {
    private let clock = TestClock()
    private let deadline = Timestamp.april8(60_000)

    private func client(_ name: String, _ jws: [UInt8]) throws -> AppStoreServerClient {
        let response = json(.object([.init(name, item(jws))]))
        return try Desk.client(CannedServer(responses: [response]), clock)
    }

    @Test func `a transaction is verified, and of the world that was asked`() throws {
        for (environment, isTaken) in [("Production", true), ("Sandbox", false)] {
            let jws = try Desk.fixtures(environment: environment)
                .transaction("7", product: "p", purchased: Desk.march)
            let client = try client("signedTransactionInfo", jws)
            let error = failure { () throws(AppStoreServerError) in
                let signed = try client.transaction("7", in: Desk.production, deadline: deadline)
                #expect(signed.transaction.transactionID == "7")
            }
            #expect((error == nil) == isTaken)
        }
    }

    @Test func `an app transaction is verified, and of the world that was asked`() throws {
        for (environment, isTaken) in [("Production", true), ("Sandbox", false)] {
            let jws = try Desk.fixtures(environment: environment)
                .appTransaction("acct", created: Desk.march)
            let client = try client("signedAppTransactionInfo", jws)
            let error = failure { () throws(AppStoreServerError) in
                let verified = try client.appTransaction(
                    of: "7", in: Desk.production, deadline: deadline)
                #expect(verified.appTransactionID == "acct")
            }
            #expect((error == nil) == isTaken)
        }
    }

    @Test func `a signature that is none is refused without showing it`() throws {
        var jws = try Desk.fixtures().transaction("7", product: "p", purchased: Desk.march)
        // Another letter of the alphabet, whatever stands there.
        jws[jws.count - 2] =
            jws[jws.count - 2] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let client = try client("signedTransactionInfo", jws)
        let error = failure { () throws(AppStoreServerError) in
            try client.transaction("7", in: Desk.production, deadline: deadline)
        }
        guard case .malformed(let message)? = error else {
            Issue.record("taken")
            return
        }
        #expect(message.contains("BAD_SIGNATURE") && !message.contains("eyJ"))
    }

    @Test func `an answer without the item is none`() throws {
        let client = try Desk.client(CannedServer(responses: [json([:])]), clock)
        let error = failure { () throws(AppStoreServerError) in
            try client.transaction("7", in: Desk.production, deadline: deadline)
        }
        guard case .malformed? = error else {
            Issue.record("taken")
            return
        }
    }
}
