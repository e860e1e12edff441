internal import CCurl

/// One easy handle of libcurl, with the connections that it keeps open.
///
/// `@unchecked Sendable`: a handle may move between threads as long as one at a time uses it
/// (https://curl.se/libcurl/c/threadsafe.html); the pool hands each to one request.
@safe final class CurlHandle: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    private let options: HTTPClientOptions

    /// A handle with all that never changes set.
    init(_ options: HTTPClientOptions) throws(HTTPError) {
        guard let handle = unsafe curl_easy_init() else {
            throw HTTPError(kind: .library, server: "", detail: "no handle can be made")
        }
        unsafe self.handle = unsafe handle
        self.options = options
        try configure()
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// `curl_easy_reset` forgets the options and keeps connections, TLS sessions and names.
    private func configure() throws(HTTPError) {
        unsafe curl_easy_reset(handle)
        let roots = options.extraRoots
        let code = unsafe roots.withUnsafeBytes { bytes in
            unsafe entitled_curl_configure(
                handle, options.userAgent, roots.isEmpty ? nil : bytes.baseAddress, bytes.count)
        }
        guard code == CURLE_OK else {
            throw HTTPError(kind: .library, server: "", detail: Self.text(of: code))
        }
    }

    /// How many connections the last request opened; 0: it used one that was open.
    var openedConnectionCount: Int { unsafe entitled_curl_connections(handle) }

    /// Sends a request and waits for the response; `isCancelled` is asked about once a second, and
    /// whenever something arrives.
    func perform(
        _ request: HTTPRequest, limits: HTTPLimits, isCancelled: @escaping () -> Bool
    ) throws(HTTPError) -> HTTPResponse {
        let server = Self.server(of: request.target)
        try Self.check(request, server: server)
        if isCancelled() { throw HTTPError(kind: .cancelled, server: server, detail: "") }
        try configure()
        let transfer = CurlTransfer(limits: limits, isCancelled: isCancelled)
        let code = run(request, limits: limits, transfer)
        guard code == CURLE_OK else {
            throw HTTPError(
                code, server: server, text: transfer.errorText ?? Self.text(of: code), transfer)
        }
        return HTTPResponse(
            status: unsafe entitled_curl_status(handle), fields: transfer.fields,
            body: transfer.body)
    }

    private func run(
        _ request: HTTPRequest, limits: HTTPLimits, _ transfer: CurlTransfer
    ) -> CURLcode {
        guard let fields = FieldList(request.fields) else { return CURLE_OUT_OF_MEMORY }
        let hasBody = !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method)
        // A body of no bytes still needs an address, else the library would read one from stdin.
        let body = request.body.isEmpty ? [0] : request.body
        return unsafe body.withUnsafeBytes { bytes in
            var code = unsafe entitled_curl_set_request(
                handle, request.target, request.method, fields.first,
                hasBody ? bytes.baseAddress : nil, request.body.count)
            if code == CURLE_OK, request.method == "HEAD" {
                code = unsafe entitled_curl_set_bodiless(handle)
            }
            if code == CURLE_OK {
                code = unsafe entitled_curl_set_limits(
                    handle, limits.connectMilliseconds, limits.totalMilliseconds,
                    limits.bodyByteCountMax)
            }
            guard code == CURLE_OK else { return code }
            return unsafe transfer.withSinks(on: handle) { unsafe curl_easy_perform(handle) }
        }
    }

    /// What would be sent as another request than was meant.
    private static func check(_ request: HTTPRequest, server: String) throws(HTTPError) {
        func refuse(_ detail: String) -> HTTPError {
            HTTPError(kind: .invalidRequest, server: server, detail: detail)
        }
        guard !server.isEmpty, request.target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw refuse("the URL is none with http or https")
        }
        guard !request.method.isEmpty, request.method.utf8.allSatisfy(FieldRules.isTokenByte) else {
            throw refuse("the method is no word")
        }
        for field in request.fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(FieldRules.isTokenByte) else {
                throw refuse("the name of a field is no word")
            }
            guard FieldRules.isSound(value: field.value) else {
                throw refuse("the value of \(field.name) has a control character")
            }
        }
    }

    /// Scheme, host and port of a URL, without a user's name; empty when it is none of ours.
    static func server(of url: String) -> String {
        let lower = url.prefix(8).lowercased()
        let scheme = ["https://", "http://"].first { lower.hasPrefix($0) }
        guard let scheme else { return "" }
        let rest = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        let host = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        return host.isEmpty ? "" : scheme + host
    }

    private static func text(of code: CURLcode) -> String {
        unsafe String(cString: curl_easy_strerror(code))
    }
}

/// The fields of a request as the library wants them.
@safe private struct FieldList: ~Copyable {
    let first: UnsafeMutablePointer<curl_slist>?

    /// - Returns: nil when memory is short.
    init?(_ fields: [HTTPField]) {
        // The library adds `Expect: 100-continue` to long bodies, and waits a second for servers
        // that do not know it.
        var list = unsafe curl_slist_append(nil, "Expect:")
        for field in fields {
            // "Name:" would remove a field; "Name;" sends it without a value.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            guard let longer = unsafe curl_slist_append(list, line) else {
                unsafe curl_slist_free_all(list)
                return nil
            }
            unsafe list = unsafe longer
        }
        unsafe first = unsafe list
    }

    deinit { unsafe curl_slist_free_all(first) }
}
