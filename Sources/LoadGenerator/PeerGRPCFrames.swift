internal import Wire

/// HTTP/2 frames of unary calls.
///
/// See: RFC 9113, sections 4.1 and 6.
struct PeerGRPCFrames {
    /// Kinds of frames by their numbers.
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case priority = 2
        case reset = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
        /// Any other is to be ignored.
        case unknown = 255
    }

    /// A frame in what was received.
    struct Frame {
        var kind: Kind
        var flags: UInt8
        var stream: UInt32
        var body: Range<Int>
    }

    /// Of DATA and HEADERS.
    static let endStream: UInt8 = 0x1
    /// Of HEADERS.
    static let endHeaders: UInt8 = 0x4
    /// Of SETTINGS and PING.
    static let acknowledged: UInt8 = 0x1
    /// Before the body of a frame.
    static let headerByteCount = 9
    /// The most that a body may have when nothing else is agreed on.
    static let bodyByteCountMax = 16_384
    /// Before a message in DATA: whether it is compressed, and its byte count.
    static let messagePrefixByteCount = 5

    /// Bytes of the body of a request's DATA, which count against the server's window.
    let messageByteCount: Int
    /// A call whose headers are whole, and one whose headers are numbers.
    private var first = PeerTemplate()
    private var later = PeerTemplate()
    private var streamPlaces: (first: [Int], later: [Int]) = ([], [])
    private var isFirst = true

    /// - Parameter product: whose access is asked for.
    init(product: String) {
        var message = PeerTemplate()
        Self.addMessage(product, to: &message)
        messageByteCount = Self.messagePrefixByteCount + message.bytes.count

        streamPlaces.first = Self.addCall(Self.wholeHeaders, product, to: &first)
        // The same in the server's table: :path, :authority, content-type, te; the newest is 62.
        streamPlaces.later = Self.addCall(
            [0x83, 0x86, 0x80 | 65, 0x80 | 64, 0x80 | 63, 0x80 | 62], product, to: &later)
    }

    /// `:method POST` and `:scheme http` by number, the others whole and to be kept.
    private static var wholeHeaders: [UInt8] {
        var block: [UInt8] = [0x83, 0x86]
        func add(_ text: String) { block += [UInt8(text.utf8.count)] + Array(text.utf8) }
        block.append(0x40 | 4)
        add("/entitled.v1.Entitlements/CheckAccess")
        block.append(0x40 | 1)
        add("127.0.0.1")
        block.append(0x40 | 31)
        add("application/grpc")
        block.append(0x40)
        add("te")
        add("trailers")
        return block
    }

    /// Adds both frames of a call.
    ///
    /// - Returns: where the number of the stream stands.
    private static func addCall(
        _ block: [UInt8], _ product: String, to template: inout PeerTemplate
    ) -> [Int] {
        var message = PeerTemplate()
        addMessage(product, to: &message)
        let messageByteCount = message.bytes.count
        template.add(header(.headers, endHeaders, byteCount: block.count))
        template.add(block)
        let second = template.bytes.count
        template.add(
            header(.data, endStream, byteCount: messagePrefixByteCount + messageByteCount))
        template.add([0])
        template.addInteger(messageByteCount)
        addMessage(product, to: &template)
        return [5, second + 5]
    }

    /// CheckAccessRequest: whom and what for.
    private static func addMessage(_ product: String, to template: inout PeerTemplate) {
        let name = UInt8(PeerPopulation.nameByteCount)
        template.add([0x0A, name + 2, 0x0A, name])
        template.addName()
        template.add([0x12, UInt8(product.utf8.count)])
        template.add(product)
    }

    /// Appends a call.
    mutating func appendCall(
        stream: UInt32, _ customer: UInt64, to output: inout OutputBuffer
    ) {
        guard !isFirst else {
            isFirst = false
            for place in streamPlaces.first { first.set(stream, at: place) }
            first.fill(customer)
            return output.append(first.bytes.span)
        }
        for place in streamPlaces.later { later.set(stream, at: place) }
        later.fill(customer)
        output.append(later.bytes.span)
    }

    /// Appends one frame.
    static func append(
        _ kind: Kind, flags: UInt8 = 0, stream: UInt32, _ body: [UInt8],
        to output: inout OutputBuffer
    ) {
        output.append(header(kind, flags, byteCount: body.count, stream: stream).span)
        output.append(body.span)
    }

    private static func header(
        _ kind: Kind, _ flags: UInt8, byteCount: Int, stream: UInt32 = 0
    ) -> [UInt8] {
        bigEndian(UInt32(byteCount)).dropFirst() + [kind.rawValue, flags] + bigEndian(stream)
    }

    /// The frame that begins at `start`; nil when it is not there whole.
    static func frame(in input: Span<UInt8>, from start: Int) -> Frame? {
        guard input.count - start >= headerByteCount else { return nil }
        let byteCount = PeerText.integer(in: input, at: start) >> 8
        let bodyStart = start + headerByteCount
        guard input.count - bodyStart >= byteCount else { return nil }
        return Frame(
            kind: Kind(rawValue: input[start + 3]) ?? .unknown, flags: input[start + 4],
            stream: UInt32(PeerText.integer(in: input, at: start + 5) & 0x7FFF_FFFF),
            body: bodyStart..<bodyStart + byteCount)
    }
}

/// A number in seven bits a byte, as protobuf has it.
func variableLength(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
    }
    return bytes + [UInt8(rest)]
}
