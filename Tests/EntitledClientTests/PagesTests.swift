import EventLoop
import Testing
import Wire

@testable import EntitledClient

@Suite(.timeLimit(.minutes(1))) struct PagesTests {
    private typealias Fetched = (page: String, next: String)

    /// The pages that a list of tokens leads to, and why they ended.
    private func pages(
        _ fetch: @escaping Pages<String>.Fetch, from token: String = ""
    ) async -> (pages: [String], error: ClientError?) {
        var pages: [String] = []
        do throws(ClientError) {
            for try await page in Pages(from: token, fetch: fetch) { pages.append(page) }
            return (pages, nil)
        } catch {
            return (pages, error)
        }
    }

    @Test func `pages follow each other by their tokens until there is none`() async {
        let next = ["": "a", "a": "b", "b": ""]
        let fetch: Pages<String>.Fetch = { token in ("page \(token)", next[token] ?? "") }
        #expect(await pages(fetch).pages == ["page ", "page a", "page b"])
        #expect(await pages(fetch, from: "b").pages == ["page b"])
        #expect(await pages({ _ in ("only", "") }).pages == ["only"])
    }

    @Test func `a page that leads to itself is no answer`() async {
        let result = await pages { token in (token, token.isEmpty ? "a" : "a") }
        #expect(result.pages == [""])
        guard case .protocolViolation? = result.error else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func `after an error there is no further page`() async throws {
        let fetch: Pages<String>.Fetch = { (token) async throws(ClientError) in
            guard token.isEmpty else { throw .closed }
            return ("first", "a")
        }
        var iterator = Pages(from: "", fetch: fetch).makeAsyncIterator()
        #expect(try await iterator.next() == "first")
        await #expect(throws: ClientError.closed) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test func `the pages of customers are asked for with the size and the tokens`() async throws {
        let asked = Locked<[Message.ListCustomersRequest]>([])
        let server = try FakeServer { received in
            guard case .listCustomers(let request)? = received.request.call else { return }
            asked.withLock { $0.append(request) }
            var page = Message.ListCustomersResponse()
            var summary = Message.CustomerSummary()
            summary.customer = .customerID(request.pageToken)
            page.customers = [summary]
            page.nextPageToken = request.pageToken.isEmpty ? "t" : ""
            page.customersTotal = 2
            received.answer(.listCustomers(page))
        }
        defer { server.stop() }
        let client = try Client(address: server.address)
        defer { client.close() }
        var names: [CustomerReference?] = []
        for try await page in client.customerPages(changedSince: 5, pageSize: 7) {
            names += page.entries.map(\.customer)
            #expect(page.total == 2)
        }
        #expect(names == [.customer(""), .customer("t")])
        #expect(asked.withLock { $0.map(\.pageSize) } == [7, 7])
        #expect(asked.withLock { $0.map(\.changedSinceRevision) } == [5, 5])
    }
}
