import AppStore
import AppStoreServerAPI
import Entitlements
import HTTP
import TestSupport
import Testing

@Suite struct NotificationsTests {
    private let clock = TestClock()
    private let week = Timestamp.april8(-604_800_000)..<Timestamp.april8()

    private func page(
        _ response: HTTPResponse, pageToken: String = "", isOnlyFailures: Bool = false
    ) throws -> (page: AppStoreServerClient.NotificationPage, request: HTTPRequest) {
        let server = CannedServer(responses: [response])
        let client = try Desk.client(server, clock)
        let page = try client.notifications(
            in: Desk.production, dates: week, isOnlyFailures: isOnlyFailures, pageToken: pageToken,
            deadline: .april8(60_000))
        let request = try #require(server.requests.first?.request)
        return (page, request)
    }

    @Test func `the body says when, and the token goes into the query`() throws {
        let last = json(["hasMore": false, "notificationHistory": []])
        let first = try page(last).request
        #expect(first.target == "https://api.example/inApps/v1/notifications/history")
        #expect(
            String(decoding: first.body, as: UTF8.self)
                == #"{"startDate":1775037600000,"endDate":1775642400000}"#)
        let second = try page(last, pageToken: "a=b", isOnlyFailures: true).request
        #expect(second.target.hasSuffix("/history?paginationToken=a%3Db"))
        #expect(
            String(decoding: second.body, as: UTF8.self)
                == #"{"startDate":1775037600000,"endDate":1775642400000,"onlyFailures":true}"#)
    }

    @Test func `an item without a payload is counted, and the others stand`() throws {
        let items: FixtureJSON = [
            ["signedPayload": "a.b.c", "sendAttempts": []], ["sendAttempts": []], 7, .null,
            ["signedPayload": 7], ["signedPayload": "d.e.f", "firstSendAttemptResult": "SUCCESS"],
        ]
        let read = try page(
            json(["hasMore": true, "paginationToken": "next", "notificationHistory": items])
        ).page
        #expect(read.signedPayloads == ["a.b.c", "d.e.f"].map { Array($0.utf8) })
        #expect(read.unreadableCount == 4)
        #expect(read.nextPageToken == "next")
    }

    @Test func `no list beside the word that this is all is an empty page`() throws {
        #expect(try page(json(["hasMore": false])).page.signedPayloads.isEmpty)
    }

    @Test(arguments: [
        json([:]), json(["notificationHistory": []]), json(["hasMore": true]),
        json(["hasMore": true, "paginationToken": "t"]),
        json(["hasMore": false, "notificationHistory": 7]),
    ])
    func `a page that may not be the last, or does not move, is an error`(response: HTTPResponse)
        throws
    {
        #expect(throws: AppStoreServerError.self) { try page(response, pageToken: "t") }
    }

    @Test func `an empty range of dates is not asked for`() throws {
        let server = CannedServer()
        let client = try Desk.client(server, clock)
        let page = try client.notifications(
            in: Desk.production, dates: .april8()..<Timestamp.april8(), isOnlyFailures: false,
            pageToken: "", deadline: .april8(60_000))
        #expect(page == .init(signedPayloads: [], unreadableCount: 0, nextPageToken: ""))
        #expect(server.requests.isEmpty)
    }

    @Test func `a test notification has a token, and attempts`() throws {
        let server = CannedServer(responses: [
            json(["testNotificationToken": "ce3af791-365e_1656711609000"]),
            json([
                "signedPayload": "a.b.c",
                "sendAttempts": [
                    ["attemptDate": 1_698_148_900_000, "sendAttemptResult": "NO_RESPONSE"],
                    ["attemptDate": 1_698_148_950_000, "sendAttemptResult": "SUCCESS"],
                ],
            ]),
        ])
        let client = try Desk.client(server, clock) { $0.historyRatePerSecond = 5_000 }
        let token = try client.requestTestNotification(
            in: Desk.production, deadline: .april8(60_000))
        let status = try client.testNotificationStatus(
            token: token, in: Desk.production, deadline: .april8(60_000))
        #expect(
            status
                == .init(
                    signedPayload: Array("a.b.c".utf8),
                    attempts: [
                        (Timestamp(milliseconds: 1_698_148_900_000), "NO_RESPONSE"),
                        (Timestamp(milliseconds: 1_698_148_950_000), "SUCCESS"),
                    ]))
        #expect(server.requests.map(\.request.method) == ["POST", "GET"])
        #expect(
            server.requests.last?.request.target.hasSuffix("/test/ce3af791-365e_1656711609000")
                == true)
    }
}
