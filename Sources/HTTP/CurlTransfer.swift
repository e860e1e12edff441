internal import CCurl

/// What one response brings, piece by piece, on the thread that waits for it.
final class CurlTransfer {
    /// Why it stopped the library itself.
    enum Stop {
        case bodyTooLarge
        case fieldsTooLarge
        case cancelled
    }

    private let limits: HTTPLimits
    private let isCancelled: () -> Bool
    private var fieldByteCount = 0
    private(set) var fields: [HTTPField] = []
    private(set) var body: [UInt8] = []
    private(set) var stop: Stop?
    /// What the library says about a failure; nil when nothing.
    private(set) var errorText: String?

    init(limits: HTTPLimits, isCancelled: @escaping () -> Bool) {
        self.limits = limits
        self.isCancelled = isCancelled
    }

    /// Calls `body` while the handle delivers here, and takes this object from the handle again.
    func withSinks(
        on handle: UnsafeMutableRawPointer, _ body: () -> CURLcode
    ) -> CURLcode {
        // CURL_ERROR_SIZE, which its documentation fixes.
        var text = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        let code = unsafe text.withUnsafeMutableBufferPointer { buffer in
            let context = unsafe Unmanaged.passUnretained(self).toOpaque()
            let code = unsafe entitled_curl_set_sinks(
                handle,
                { bytes, size, count, context in
                    unsafe CurlTransfer.at(context)?.takeBody(bytes, size * count) ?? 0
                },
                { bytes, size, count, context in
                    unsafe CurlTransfer.at(context)?.takeField(bytes, size * count) ?? 0
                },
                { context, _, _, _, _ in unsafe CurlTransfer.at(context)?.progress() ?? 1 },
                context, buffer.baseAddress)
            guard code == CURLE_OK else { return code }
            let result = body()
            // The buffer goes out of scope; the handle lives on.
            unsafe entitled_curl_clear_sinks(handle)
            return result
        }
        let said = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        errorText = said.isEmpty ? nil : String(decoding: said, as: UTF8.self)
        return code
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    }

    /// - Returns: How many bytes were taken; anything else than `count` ends the transfer.
    private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard count <= limits.bodyByteCountMax - body.count else {
            stop = .bodyTooLarge
            return 0
        }
        unsafe body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    private func takeField(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        fieldByteCount += count
        guard fieldByteCount <= limits.fieldByteCountMax else {
            stop = .fieldsTooLarge
            return 0
        }
        let line = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
        take(line: line)
        return count
    }

    /// One line of the head. A status line begins a head anew: 100 Continue goes before the final
    /// one. Trailers after a chunked body come here as well.
    func take(line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            fields.removeAll()
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return }
        let value = text[text.index(after: colon)...]
        fields.append(HTTPField(Self.trimmed(text[..<colon]), Self.trimmed(value)))
    }

    private func progress() -> Int32 {
        guard isCancelled() else { return 0 }
        stop = .cancelled
        return 1
    }

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ character: Character) -> Bool { character.isWhitespace }
        let start = text.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(start[...last])
    }
}

extension HTTPError {
    /// A failure of the library in our terms.
    init(_ code: CURLcode, server: String, text: String, _ transfer: CurlTransfer) {
        let kind: Kind =
            switch transfer.stop {
            case .bodyTooLarge, .fieldsTooLarge: .tooLarge
            case .cancelled: .cancelled
            case nil: Self.kind(of: code)
            }
        let detail =
            switch transfer.stop {
            case .bodyTooLarge: "the body goes beyond the limit"
            case .fieldsTooLarge: "the fields go beyond the limit"
            case .cancelled: ""
            case nil: text
            }
        self.init(
            kind: kind, server: server, detail: detail,
            isCertificateRefused: code == CURLE_PEER_FAILED_VERIFICATION)
    }

    private static func kind(of code: CURLcode) -> Kind {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
        case CURLE_COULDNT_CONNECT, CURLE_PROXY: .connect
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_USE_SSL_FAILED:
            .tls
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
            CURLE_SEND_FAIL_REWIND:
            .closed
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            .protocolViolation
        case CURLE_FILESIZE_EXCEEDED: .tooLarge
        case CURLE_ABORTED_BY_CALLBACK: .cancelled
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT: .invalidRequest
        default: .library
        }
    }
}
