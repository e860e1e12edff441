/// One request, as a client sends it or a listener receives it.
package struct HTTPRequest: Hashable, Sendable {
    /// GET, POST, ...; upper case.
    package var method: String
    /// For a client: the whole URL. For a listener: the path, percent-decoded, without the query.
    package var target: String
    /// The query items in order, percent-decoded; a listener's only, a client writes its URL.
    package var query: [HTTPField]
    /// The fields in order; names compare without case.
    package var fields: [HTTPField]
    /// The body, whole.
    package var body: [UInt8]

    /// A request.
    package init(
        method: String = "GET", target: String, query: [HTTPField] = [],
        fields: [HTTPField] = [], body: [UInt8] = []
    ) {
        self.method = method
        self.target = target
        self.query = query
        self.fields = fields
        self.body = body
    }
}

/// A name with its value: a header field or an item of a query.
package struct HTTPField: Hashable, Sendable {
    /// The name as written.
    package var name: String
    /// The value as written.
    package var value: String

    /// A field.
    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// One response, as a client receives it or a listener sends it.
package struct HTTPResponse: Hashable, Sendable {
    /// 200, 404, ...
    package var status: Int
    /// The fields in order; names compare without case.
    package var fields: [HTTPField]
    /// The body, whole.
    package var body: [UInt8]

    /// A response.
    package init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

extension [HTTPField] {
    /// The value of the first field of this name, whatever its case; nil without one.
    package func value(_ name: String) -> String? {
        let wanted = name.lowercased()
        return first { $0.name.lowercased() == wanted }?.value
    }
}
