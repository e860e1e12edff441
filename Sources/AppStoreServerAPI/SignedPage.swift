internal import AppStore

/// A page of an answer: a list, whether there is more, and how to ask for it.
struct SignedPage {
    private let object: JSONObject
    private let list: String

    init(_ object: JSONObject, list: String) {
        self.object = object
        self.list = list
    }

    /// The elements of the list; a list that is absent is empty, for the answer says with `hasMore`
    /// that it is whole.
    func values(of endpoint: AppStoreEndpoint) throws(AppStoreServerError) -> [JSONValue] {
        guard object.value(list) != nil else { return [] }
        guard let values = object.array(list) else {
            throw .malformed("\(endpoint.title): \(list) is no array")
        }
        return values
    }

    /// The elements of a list of JWS; nil where an element is no string.
    func items(of endpoint: AppStoreEndpoint) throws(AppStoreServerError) -> [[UInt8]?] {
        try values(of: endpoint).map { object.bytes($0) }
    }

    /// An element that is an object; nil where it is none.
    func object(_ value: JSONValue) -> JSONObject? { object.object(value) }

    /// What to ask for the next page with.
    ///
    /// - Returns: nil after the last page.
    /// - Throws: `malformed` when the page does not say whether it is the last: what may be half
    ///   must never pass for the whole.
    func next(
        _ name: String, of endpoint: AppStoreEndpoint
    ) throws(AppStoreServerError) -> String? {
        guard let hasMore = object.boolean("hasMore") else {
            throw .malformed("\(endpoint.title): hasMore is absent or no boolean")
        }
        guard hasMore else { return nil }
        guard let next = object.text(name), !next.isEmpty else {
            throw .malformed("\(endpoint.title): hasMore is true and \(name) is absent")
        }
        return next
    }
}
