/// Where a request's body ends, by its fields.
///
/// Two parties that read one stream differently can be played off against each other: one smuggles
/// a second request past the other. So whatever can be read in two ways is refused, also where the
/// RFC says which way is right.
///
/// See: https://www.rfc-editor.org/rfc/rfc9112#section-6.3
enum BodyFraming: Hashable, Sendable {
    /// There is no body.
    case none
    /// So many bytes follow.
    case length(UInt64)
    /// Chunks follow; the last one is empty.
    case chunked
    /// The connection cannot go on: nobody knows where the next request begins.
    case ambiguous

    /// - Parameters:
    ///   - fields: All fields of the request.
    ///   - version: "HTTP/1.1".
    init(_ fields: [HTTPField], version: String) {
        let lengths = fields.filter { $0.name.lowercased() == "content-length" }
        let codings = fields.filter { $0.name.lowercased() == "transfer-encoding" }
        if let coding = codings.first {
            let isSound =
                codings.count == 1 && lengths.isEmpty && coding.value.lowercased() == "chunked"
                && version.utf8.elementsEqual("HTTP/1.1".utf8)
            self = isSound ? .chunked : .ambiguous
            return
        }
        guard let text = lengths.first?.value else {
            self = .none
            return
        }
        // "+5", "0x5", "5, 5" and " 5" are numbers to some.
        guard lengths.count == 1, !text.isEmpty, text.utf8.count <= 19,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = UInt64(text)
        else {
            self = .ambiguous
            return
        }
        self = length == 0 ? .none : .length(length)
    }
}
