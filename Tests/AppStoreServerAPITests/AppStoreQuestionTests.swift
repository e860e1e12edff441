@testable import AppStoreServerAPI
import Entitlements
import HTTP
import Testing

@Suite struct AppStoreQuestionTests {
    private func target(_ question: AppStoreQuestion, _ base: String = "https://h") -> String {
        question.request(baseURL: base, token: "T").target
    }

    @Test(arguments: [
        (AppStoreEndpoint.transactionHistory, "GET", "/inApps/v2/history/2000"),
        (.subscriptionStatuses, "GET", "/inApps/v1/subscriptions/2000"),
        (.transactionInfo, "GET", "/inApps/v1/transactions/2000"),
        (.refundHistory, "GET", "/inApps/v2/refund/lookup/2000"),
        (.appTransactionInfo, "GET", "/inApps/v1/transactions/appTransactions/2000"),
        (.testNotificationStatus, "GET", "/inApps/v1/notifications/test/2000"),
    ])
    func `the path is Apple's, with the id at its end`(
        endpoint: AppStoreEndpoint, method: String, path: String
    ) throws {
        let question = try AppStoreQuestion(endpoint, about: "2000", in: Desk.production)
        let request = question.request(baseURL: "https://h", token: "T")
        #expect(request.target == "https://h" + path)
        #expect(request.method == method)
        #expect(request.fields.value("authorization") == "Bearer T")
        #expect(request.fields.value("Content-Type") == nil)
    }

    @Test func `what has no id is posted`() {
        let test = AppStoreQuestion(.testNotification, in: Desk.production)
        #expect(target(test) == "https://h/inApps/v1/notifications/test")
        let history = AppStoreQuestion(
            .notificationHistory, in: Desk.production, query: [("paginationToken", "a+b/c=")],
            body: [1])
        let request = history.request(baseURL: "https://h", token: "T")
        #expect(request.method == "POST")
        #expect(
            request.target
                == "https://h/inApps/v1/notifications/history?paginationToken=a%2Bb%2Fc%3D")
        #expect(request.fields.value("Content-Type") == "application/json")
        #expect(request.body == [1])
    }

    @Test(arguments: ["https://h/", "https://h//", "https://h"])
    func `a slash at the end of the base URL does not count`(base: String) throws {
        let question = try AppStoreQuestion(.transactionInfo, about: "1", in: Desk.production)
        #expect(target(question, base) == "https://h/inApps/v1/transactions/1")
    }

    @Test(arguments: [
        ("a/../b", "a%2F..%2Fb"), ("a?b#c", "a%3Fb%23c"), ("é\0", "%C3%A9%00"), ("a.b", "a.b"),
        ("%2e", "%252e"), ("a b\r\n", "a%20b%0D%0A"),
    ])
    func `an id cannot leave its place in the path`(id: String, encoded: String) throws {
        let question = try AppStoreQuestion(.transactionInfo, about: id, in: Desk.production)
        #expect(question.path == "/inApps/v1/transactions/" + encoded)
    }

    @Test(arguments: ["", ".", "..", "..."])
    func `an id that would be a step in the path is refused unasked`(id: String) {
        let error = failure { () throws(AppStoreServerError) in
            try AppStoreQuestion(.transactionInfo, about: id, in: Desk.production)
        }
        #expect(error?.isAboutID == true)
    }

    @Test func `a stranger's text is cut, printable, and holds no token`() {
        let token = String(repeating: "eyJ", count: 30)
        #expect(printable("no \(token) here\u{1B}[31m") == "no ... here [31m")
        #expect(printable(String(repeating: "word ", count: 400)).count <= 200)
        #expect(printable(String(repeating: "a", count: 64)).count == 64)
        #expect(printable(String(repeating: "a", count: 65)) == "...")
    }
}
