/// The pages of a list, asked for one after the other as they are taken.
///
///     for try await page in client.customerPages() { ... }
public struct Pages<Page: Sendable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Page
    /// Why the next page has not come.
    public typealias Failure = ClientError

    /// Asks for the page of a token, and says with which token the next one is asked for.
    typealias Fetch = @Sendable (String) async throws(ClientError) -> (page: Page, next: String)

    private let firstToken: String
    private let fetch: Fetch

    init(from firstToken: String, fetch: @escaping Fetch) {
        self.firstToken = firstToken
        self.fetch = fetch
    }

    /// Asks for one page after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The token of the next page; nil after the last.
        private var token: String?
        private let fetch: Fetch

        fileprivate init(token: String, fetch: @escaping Fetch) {
            self.token = token
            self.fetch = fetch
        }

        /// The next page.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: The page; nil after the last.
        /// - Throws: `ClientError`; the iterator is at its end then.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> Page? {
            guard let token else { return nil }
            self.token = nil
            let (page, next) = try await fetch(token)
            // Tokens are bytes to be given back as they came.
            guard !next.utf8.elementsEqual(token.utf8) || next.isEmpty else {
                throw .protocolViolation("a page that leads to itself")
            }
            if !next.isEmpty { self.token = next }
            return page
        }
    }

    /// The pages from the first one on.
    ///
    /// - Returns: An iterator that has asked for nothing yet.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(token: firstToken, fetch: fetch)
    }
}
