internal import Entitlements
internal import HTTP

/// One request as it is put to Apple's servers, before credentials and host.
struct AppStoreQuestion {
    let endpoint: AppStoreEndpoint
    let scope: Scope
    /// The path with the id in it, percent-encoded.
    let path: String
    private let query: [(name: String, value: String)]
    private let body: [UInt8]

    /// A question without an id in its path.
    init(
        _ endpoint: AppStoreEndpoint, in scope: Scope,
        query: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        self.endpoint = endpoint
        self.scope = scope
        path = endpoint.pathPrefix
        self.query = query
        self.body = body
    }

    /// A question about an id.
    ///
    /// - Throws: `rejected`, without asking, for a text that cannot be a part of a path: proxies
    ///   and clients alike resolve `.` and `..`, and nothing of Apple's is called so.
    init(
        _ endpoint: AppStoreEndpoint, about id: String, in scope: Scope,
        query: [(name: String, value: String)] = []
    ) throws(AppStoreServerError) {
        guard !id.utf8.allSatisfy({ $0 == UInt8(ascii: ".") }) else {
            throw .rejected(
                code: ErrorCode.invalidTransactionID,
                message: "\(endpoint.title): \(printable("\"\(id)\"")) is no id of Apple's")
        }
        self.endpoint = endpoint
        self.scope = scope
        path = endpoint.pathPrefix + percentEncoded(id)
        self.query = query
        body = []
    }

    /// The request for one host with one token.
    func request(baseURL: String, token: String) -> HTTPRequest {
        var base = baseURL[...]
        while base.hasSuffix("/") { base = base.dropLast() }
        let items = query.map { percentEncoded($0.name) + "=" + percentEncoded($0.value) }
        var fields = [
            HTTPField("Authorization", "Bearer " + token), HTTPField("Accept", "application/json"),
        ]
        if !body.isEmpty { fields.append(HTTPField("Content-Type", "application/json")) }
        return HTTPRequest(
            method: endpoint.method,
            target: base + path + (items.isEmpty ? "" : "?" + items.joined(separator: "&")),
            fields: fields, body: body)
    }
}

/// `text` with every byte but RFC 3986's unreserved ones as `%XX`.
func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            encoded.append(byte)
        default:
            encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}

/// A text of a stranger for a message: printable ASCII only, at most 200 characters, and no word
/// long enough to be a token or a JWS.
func printable(_ text: String) -> String {
    let ascii = text.unicodeScalars.prefix(1_000).map { scalar -> Character in
        (0x20..<0x7F).contains(scalar.value) ? Character(scalar) : " "
    }
    let words = ascii.split(separator: " ").map { $0.count > 64 ? "..." : String($0) }
    return String(words.joined(separator: " ").prefix(200))
}
