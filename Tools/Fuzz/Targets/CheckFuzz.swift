import Wire

/// The hand-written codecs of checks against protobuf-c: what they take, they read as it does.
enum CheckFuzz {
    /// Patches of the second frame come first, then the body of a request.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        var patches: [(place: Int, value: UInt8)] = []
        for _ in 0..<script.choice(of: 5) {
            patches.append((script.choice(of: 256), script.byte()))
        }
        let body = script.remainder()
        guard !body.isEmpty else { return }
        var other = body
        for patch in patches where patch.place < other.count { other[patch.place] = patch.value }
        try compareBody(body)
        try compareRun([body, other, body, other])
        try compareUsual(body)
    }

    private static func compareBody(_ body: [UInt8]) throws {
        var envelope = CheckEnvelope()
        if CheckAccessCodec.decode(body.span, into: &envelope) {
            let request = try request(body)
            try expect(same(envelope, request, body), "a check is read otherwise: \(request)")
            let check = envelope.check
            try expect(
                request.call == .checkAccess(Self.check(check, body, in: request)),
                "a check's fields are read otherwise: \(check), \(request)")
        }
        var checks: [CheckFields] = []
        var isOverLimit = false
        guard
            CheckBatchCodec.decode(
                body.span, countMax: 3, into: &envelope, checks: &checks, isOverLimit: &isOverLimit)
        else { return }
        let request = try request(body)
        guard same(envelope, request, body), case .checkAccessBatch(let messages)? = request.call
        else { throw FuzzFinding("a batch is read otherwise: \(request)") }
        try expect(isOverLimit == (messages.count > 3), "a batch's limit is misjudged")
        try expect(checks.count == min(messages.count, 3), "a batch's checks are miscounted")
        for (check, message) in zip(checks, messages) {
            let read = Self.message(check, body, hasScope: message.scope != nil)
            try expect(read == message, "a check of a batch is read otherwise: \(message)")
        }
    }

    /// A run of frames says of each what the frame says alone.
    private static func compareRun(_ bodies: [[UInt8]]) throws {
        var output = OutputBuffer()
        for body in bodies { FrameEncoder.append(body.span, to: &output) }
        let stream = Text(copying: output.bytes).bytes
        let run = CheckRun()
        let decoder = FrameDecoder(frameByteCountMax: 1 << 20)
        let count = decoder.gather(stream.span, from: 0, into: run)
        var start = 0
        for (index, body) in bodies.enumerated() {
            var envelope = CheckEnvelope()
            let isTaken = CheckAccessCodec.decode(body.span, into: &envelope)
            try expect((index < count) == isTaken || index > count, "a run ends at another frame")
            guard index < count else { return }
            let frame = run.frames[index]
            let end = start + FrameDecoder.prefixByteCount + body.count
            try expect(frame.start == start && frame.end == end, "a run misplaces a frame")
            try expect(frame.requestID == envelope.id, "a run mistakes a request's number")
            let alone = envelope.check
            let inRun = run.checks[index]
            try expect(
                message(inRun, stream, hasScope: true) == message(alone, body, hasScope: true)
                    && inRun.customerKind == alone.customerKind
                    && inRun.environment == alone.environment,
                "a run reads a check otherwise: \(inRun), \(alone)")
            try expect(
                frame.fault == alone.fault(in: body.span), "a run judges otherwise: \(frame.fault)")
            start = end
        }
    }

    /// What protobuf-c reads as a check and writes again is taken, and says the same.
    private static func compareUsual(_ body: [UInt8]) throws {
        let arena = MessageArena()
        guard let request = try? Request(decoding: body.span, in: arena),
            case .checkAccess? = request.call
        else { return }
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 24)
        let usual = Array(Text(copying: output.bytes).bytes.dropFirst(FrameDecoder.prefixByteCount))
        var envelope = CheckEnvelope()
        try expect(
            CheckAccessCodec.decode(usual.span, into: &envelope), "a usual check is not taken")
        try expect(same(envelope, request, usual), "a usual check is read otherwise")
        try expect(
            request.call == .checkAccess(check(envelope.check, usual, in: request)),
            "a usual check's fields are read otherwise: \(request)")
    }

    private static func request(_ body: [UInt8]) throws -> Request {
        do throws(WireError) {
            return try Request(decoding: body.span, in: MessageArena())
        } catch {
            throw FuzzFinding("the codec takes what is no request: \(error)")
        }
    }

    private static func same(
        _ envelope: CheckEnvelope, _ request: Request, _ text: [UInt8]
    ) -> Bool {
        envelope.id == request.id
            && envelope.timeoutMilliseconds == request.timeoutMilliseconds
            && self.text(envelope.traceparent, text) == request.traceparent
            && self.text(envelope.apiKey, text) == request.apiKey
    }

    private static func text(_ range: ByteRange, _ text: [UInt8]) -> Text {
        Text(copying: text.span.extracting(range))
    }

    /// Ranges do not tell an empty scope from none; what protobuf-c read says which it is.
    private static func check(
        _ check: CheckFields, _ text: [UInt8], in request: Request
    ) -> Message.CheckAccessRequest {
        var hasScope = false
        if case .checkAccess(let read)? = request.call { hasScope = read.scope != nil }
        return message(check, text, hasScope: hasScope)
    }

    private static func message(
        _ check: CheckFields, _ text: [UInt8], hasScope: Bool
    ) -> Message.CheckAccessRequest {
        var message = Message.CheckAccessRequest()
        let name = self.text(check.customer, text)
        message.customer =
            switch check.customerKind {
            case .none: nil
            case .customerID: .customerID(name)
            case .appAccountToken: .appAccountToken(name)
            case .appTransactionID: .appTransactionID(name)
            case .originalTransactionID: .originalTransactionID(name)
            }
        let subject = self.text(check.subject, text)
        message.subject =
            switch check.subjectKind {
            case .none: nil
            case .product: .product(subject)
            case .entitlement: .entitlement(subject)
            }
        message.atMilliseconds = check.atMilliseconds
        message.minRevision = check.minRevision
        message.units = check.units
        let bundleID = self.text(check.bundleID, text)
        if hasScope || !bundleID.isEmpty || check.environment != 0 {
            message.scope = Message.Scope(
                bundleID: bundleID, environment: Message.Environment(rawValue: check.environment))
        }
        return message
    }
}
