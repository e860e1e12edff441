internal import Wire

/// CheckAccess as a unary call of gRPC, over HTTP/2 in clear text.
///
/// A request is one HEADERS and one DATA frame. The first one on a connection sends its headers
/// whole, the others by their numbers in the server's table, as gRPC's own clients do: the server
/// is given no more to read than by them. An answer is counted when its trailers say that the call
/// went well, and its message is compared byte by byte.
///
/// See: RFC 9113, and https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
struct PeerGRPC: LoadDialogue {
    private var frames: PeerGRPCFrames
    private var customers: PeerCustomers
    private var answer = PeerTemplate()
    private var headers = PeerHeaderTable()
    private var calls: [Call]
    /// Bytes of bodies received since credit was given for them.
    private var uncreditedByteCount = 0
    /// Bytes of bodies that the server has room for.
    private var creditByteCount = 65_535
    private let depth: Int

    /// A call in flight, at its number modulo their count.
    private struct Call {
        var number: UInt64 = 0
        var customer: UInt64 = 0
        var hasMessage = false
    }

    private static let credit = 1 << 30
    private static let creditStep = 1 << 20
    /// Fields of the answer that are the same for everybody; the server fills them in likewise.
    private static let product = "com.example.meadow.plus.month"
    private static let validUntilMilliseconds: UInt64 = 4_102_444_800_000

    init(_ customers: PeerCustomers, customerCount: Int, depth: Int) {
        self.customers = customers
        self.depth = depth
        frames = PeerGRPCFrames(product: Self.product)
        // As the ledger has it, so that two calls never meet in one place.
        var capacity = 4
        while capacity < depth * 4 { capacity *= 2 }
        calls = Array(repeating: Call(), count: capacity)
        addAnswer(revision: UInt64(customerCount))
    }

    private mutating func addAnswer(revision: UInt64) {
        answer.add([0x08, 1, 0x10, 1, 0x18, 1, 0x20])
        answer.add(variableLength(Self.validUntilMilliseconds))
        answer.add([0x2A, UInt8(Self.product.utf8.count)])
        answer.add(Self.product)
        for key: UInt8 in [0x32, 0x3A] {
            answer.add([key, 16])
            answer.add("2")
            answer.addDigits(15)
        }
        answer.add([0x40])
        answer.add(variableLength(revision))
    }

    var hasGreeting: Bool { true }

    func appendGreeting(to output: inout OutputBuffer) {
        output.append(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8).span)
        // ENABLE_PUSH 0, INITIAL_WINDOW_SIZE 1 MiB.
        PeerGRPCFrames.append(
            .settings, stream: 0, [0, 2, 0, 0, 0, 0, 0, 4, 0, 0x10, 0, 0], to: &output)
        PeerGRPCFrames.append(
            .windowUpdate, stream: 0, bigEndian(UInt32(Self.credit)), to: &output)
    }

    mutating func takeGreeting(
        _ input: Span<UInt8>, to output: inout OutputBuffer
    ) -> GreetingStep {
        guard let frame = PeerGRPCFrames.frame(in: input, from: 0) else {
            return input.count > PeerGRPCFrames.bodyByteCountMax
                ? .refused("this is no HTTP/2 server") : .more(consumed: 0)
        }
        guard frame.kind == .settings, frame.flags == 0 else {
            return .refused("this is no HTTP/2 server")
        }
        if let trouble = acknowledge(settings: input.extracting(frame.body), to: &output) {
            return .refused(trouble)
        }
        return .done(consumed: frame.body.upperBound)
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        let customer = customers.next()
        calls[place(of: number)] = Call(number: number, customer: customer)
        creditByteCount -= frames.messageByteCount
        frames.appendCall(stream: UInt32(number * 2 + 1), customer, to: &output)
        return customer
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        var position = 0
        while let frame = PeerGRPCFrames.frame(in: input, from: position) {
            guard frame.body.count <= PeerGRPCFrames.bodyByteCountMax else {
                ledger.fail("a frame of \(frame.body.count) bytes")
                break
            }
            if let trouble = take(frame, input.extracting(frame.body), &ledger, to: &output) {
                ledger.fail(trouble)
                break
            }
            position = frame.body.upperBound
        }
        if creditByteCount < 0 { ledger.fail("more was sent than the server had room for") }
        giveCredit(to: &output)
        return position
    }

    private func place(of number: UInt64) -> Int { Int(number) & (calls.count - 1) }
}

extension PeerGRPC {
    /// Takes one frame; says what is wrong when nothing behind it has a meaning.
    private mutating func take(
        _ frame: PeerGRPCFrames.Frame, _ body: Span<UInt8>, _ ledger: inout AnswerLedger,
        to output: inout OutputBuffer
    ) -> String? {
        switch frame.kind {
        case .data: takeMessage(frame, body, &ledger)
        case .headers: return takeHeaders(frame, body, &ledger)
        case .reset: return end(frame, "the server broke off a call", body, &ledger)
        case .settings where frame.flags & PeerGRPCFrames.acknowledged == 0:
            return acknowledge(settings: body, to: &output)
        case .ping where frame.flags & PeerGRPCFrames.acknowledged == 0:
            PeerGRPCFrames.append(
                .ping, flags: PeerGRPCFrames.acknowledged, stream: 0, bytes(of: body), to: &output)
        case .windowUpdate where frame.stream == 0 && body.count == 4:
            creditByteCount += PeerText.integer(in: body, at: 0)
        case .goAway: return "the server says goodbye"
        case .pushPromise, .continuation: return "a frame that no unary call needs"
        case .settings, .ping, .windowUpdate, .priority, .unknown: break
        }
        return nil
    }

    private mutating func takeMessage(
        _ frame: PeerGRPCFrames.Frame, _ body: Span<UInt8>, _ ledger: inout AnswerLedger
    ) {
        uncreditedByteCount += body.count
        let number = UInt64(frame.stream) / 2
        let place = place(of: number)
        guard calls[place].number == number, !body.isEmpty else { return }
        answer.fill(calls[place].customer)
        let expected = answer.bytes
        let start = PeerGRPCFrames.messagePrefixByteCount
        if body.count == start + expected.count, body[0] == 0,
            PeerText.integer(in: body, at: 1) == expected.count,
            ByteComparison.has(body, expected.span, at: start)
        {
            calls[place].hasMessage = true
        } else {
            ledger.reportWrong(
                "the message of a call is not the customer's", expected: expected, found: body)
        }
    }

    private mutating func takeHeaders(
        _ frame: PeerGRPCFrames.Frame, _ body: Span<UInt8>, _ ledger: inout AnswerLedger
    ) -> String? {
        guard frame.flags & ~PeerGRPCFrames.endStream == PeerGRPCFrames.endHeaders else {
            return "headers in more than one frame, or with padding"
        }
        var isRefused = false
        var isOver = false
        do throws(PeerHeaderTable.Failure) {
            try headers.read(body) { meaning in
                switch meaning {
                case .statusOther, .callOther: isRefused = true
                case .callOK: isOver = true
                case .statusOK, .other: break
                }
            }
        } catch {
            return "headers that cannot be read: \(error)"
        }
        guard frame.flags & PeerGRPCFrames.endStream != 0 else { return nil }
        let isRight = isOver && !isRefused
        return end(frame, isRight ? nil : "a call did not end with grpc-status 0", body, &ledger)
    }

    /// A call is over; `trouble` says what was wrong with its end.
    private mutating func end(
        _ frame: PeerGRPCFrames.Frame, _ trouble: String?, _ body: Span<UInt8>,
        _ ledger: inout AnswerLedger
    ) -> String? {
        let number = UInt64(frame.stream) / 2
        guard ledger.answer(number) != nil else { return nil }
        let hasMessage = calls[place(of: number)].hasMessage
        calls[place(of: number)] = Call()
        if let trouble {
            ledger.reportWrong(trouble, expected: [], found: body)
        } else if !hasMessage {
            ledger.reportWrong("a call without its message", expected: answer.bytes, found: body)
        }
        return nil
    }

    private mutating func acknowledge(
        settings: Span<UInt8>, to output: inout OutputBuffer
    ) -> String? {
        let maximumConcurrentStreams: UInt8 = 3
        var position = 0
        while settings.count - position >= 6 {
            let value = PeerText.integer(in: settings, at: position + 2)
            if settings[position] == 0, settings[position + 1] == maximumConcurrentStreams,
                value < depth
            {
                return "the server takes only \(value) calls at a time"
            }
            position += 6
        }
        PeerGRPCFrames.append(
            .settings, flags: PeerGRPCFrames.acknowledged, stream: 0, [], to: &output)
        return nil
    }

    private mutating func giveCredit(to output: inout OutputBuffer) {
        guard uncreditedByteCount >= Self.creditStep else { return }
        PeerGRPCFrames.append(
            .windowUpdate, stream: 0, bigEndian(UInt32(uncreditedByteCount)), to: &output)
        uncreditedByteCount = 0
    }

    private func bytes(of span: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in span.indices { bytes.append(span[index]) }
        return bytes
    }
}
