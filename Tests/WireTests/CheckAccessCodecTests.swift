import Testing
import Wire

@Suite struct CheckAccessCodecTests {
    private let arena = MessageArena()

    @Test func `the span codec reads the request that everybody writes`() {
        let body = requestV
        var envelope = CheckEnvelope()
        #expect(CheckAccessCodec.decode(body.span, into: &envelope))
        var expected = CheckEnvelope()
        expected.id = 1
        expected.check.customerKind = .customerID
        expected.check.customer = ByteRange(start: 8, byteCount: 1)
        expected.check.subjectKind = .product
        expected.check.subject = ByteRange(start: 11, byteCount: 1)
        #expect(envelope == expected)
    }

    @Test(arguments: Samples.requests)
    func `the span codec takes checks and nothing else`(request: Request) throws {
        let body = try Oracle.body(request, arena)
        let isCheck = if case .checkAccess = request.call { true } else { false }
        var envelope = CheckEnvelope()
        #expect(CheckAccessCodec.decode(body.span, into: &envelope) == isCheck)
    }

    @Test(arguments: [(5, true), (6, false)])
    func `a length has five bytes at most, as for protobuf-c`(byteCount: Int, isTaken: Bool) {
        let zero = [UInt8](repeating: 0x80, count: byteCount - 1) + [0]
        let check = UInt8(1 + byteCount)
        // The call's length, the first and the last text's in it, the envelope's.
        for body in [
            [0x52] + zero, [0x52, check, 0x0A] + zero, [0x52, check, 0x32] + zero,
            [0x22] + zero + [0x52, 0],
        ] {
            var envelope = CheckEnvelope()
            #expect(CheckAccessCodec.decode(body.span, into: &envelope) == isTaken)
            #expect(((try? Request(decoding: body.span, in: arena)) != nil) == isTaken)
        }
    }

    @Test(
        arguments: [
            ("an unknown field", "A2060378797A"), ("the id again", "0802"),
            ("the call again", "5208 0A03 0A0161 120170"), ("another call", "8A0100"),
            ("a field number of 0", "00"), ("a group", "A306"), ("a cut tag", "88"),
            ("a cut varint", "1080"), ("a long varint", "10FFFFFFFFFFFFFFFFFFFF01"),
            ("a length past the end", "1A0561"), ("a length of six bytes", "22808080808000"),
            ("the trace as a number", "1801"),
            ("a tag of two bytes for a small number", "900001"),
        ])
    func `what is strange in the envelope goes the general way`(name: String, digits: String) {
        let body = requestV + hex(digits)
        var envelope = CheckEnvelope()
        #expect(!CheckAccessCodec.decode(body.span, into: &envelope), "\(name)")
    }

    @Test(
        arguments: [
            ("two customers", "0A03 0A0161 0A03 0A0162 120170"),
            ("a customer of two names", "0A06 0A0161 0A0162 120170"),
            ("a customer of two kinds", "0A06 0A0161 120162 120170"),
            ("a product and an entitlement", "0A03 0A0161 120170 1A0171"),
            ("two products", "0A03 0A0161 120170 120171"), ("an unknown field", "0A03 0A0161 7001"),
            ("two scopes", "0A03 0A0161 3200 3200"), ("two environments", "3204 1001 1001"),
            ("an unknown field in the scope", "3202 1801"),
            ("a name past its customer", "0A03 0A0261 6101"),
            ("a customer cut short", "0A03 0A01"), ("an unknown kind of name", "0A03 2A0161"),
        ])
    func `what is strange in the check goes the general way`(name: String, digits: String) {
        let check = hex(digits)
        let body = hex("0801 52") + [UInt8(check.count)] + check
        var envelope = CheckEnvelope()
        #expect(!CheckAccessCodec.decode(body.span, into: &envelope), "\(name)")
    }

    @Test func `a request without a check is not the span codec's`() {
        for digits in ["", "0801", "0801 1005"] {
            let body = hex(digits)
            var envelope = CheckEnvelope()
            #expect(!CheckAccessCodec.decode(body.span, into: &envelope))
        }
    }

    @Test func `what one request said does not linger in the next`() {
        var envelope = CheckEnvelope()
        let full = hex("0801 1005 1A0174 220161 5211 0A03 0A0161 120170 2001 2802 3203 0A0178")
        #expect(CheckAccessCodec.decode(full.span, into: &envelope))
        #expect(!envelope.apiKey.isEmpty && envelope.check.minRevision == 2)
        let bare = hex("5200")
        #expect(CheckAccessCodec.decode(bare.span, into: &envelope))
        #expect(envelope == CheckEnvelope())
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `all that encoders write is read as protobuf-c reads it`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<2000 {
            let request = Oracle.randomRequest(&generator)
            let body = try Oracle.body(request, arena)
            var envelope = CheckEnvelope()
            let isTaken = CheckAccessCodec.decode(body.span, into: &envelope)
            try #require(isTaken, "seed \(seed), round \(round): \(body)")
            let fast = Oracle.request(envelope, body)
            let slow = Oracle.normalized(try Request(decoding: body.span, in: arena))
            try #require(fast == slow, "seed \(seed), round \(round): \(body)")
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `damaged requests are read as protobuf-c reads them, or left to it`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed + 100)
        var takenCount = 0
        for round in 0..<20_000 {
            var body = try Oracle.body(Oracle.randomRequest(&generator), arena)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                Oracle.damage(&body, &generator)
            }
            var envelope = CheckEnvelope()
            guard CheckAccessCodec.decode(body.span, into: &envelope) else { continue }
            takenCount += 1
            let slow = try? Request(decoding: body.span, in: arena)
            let fast = Oracle.request(envelope, body)
            try #require(
                slow.map(Oracle.normalized) == fast, "seed \(seed), round \(round): \(body)")
        }
        #expect(takenCount > 1000)
    }
}

/// protobuf-c, whose word counts.
enum Oracle {
    static func body(_ request: Request, _ arena: MessageArena) throws -> [UInt8] {
        var output = OutputBuffer()
        try request.encodeFrame(into: &output, in: arena, frameByteCountMax: 1 << 20)
        return Array(output.copy.dropFirst(4))
    }

    /// What the span codec read, as a value. It cannot tell an empty scope from none.
    static func request(_ envelope: CheckEnvelope, _ body: [UInt8]) -> Request {
        func text(_ range: ByteRange) -> Text { Text(Array(body[range.indices])) }
        var request = Request(id: envelope.id, call: .checkAccess(check(envelope.check, body)))
        request.timeoutMilliseconds = envelope.timeoutMilliseconds
        request.traceparent = text(envelope.traceparent)
        request.apiKey = text(envelope.apiKey)
        return request
    }

    static func check(_ fields: CheckFields, _ body: [UInt8]) -> Message.CheckAccessRequest {
        func text(_ range: ByteRange) -> Text { Text(Array(body[range.indices])) }
        var check = Message.CheckAccessRequest()
        check.customer =
            switch fields.customerKind {
            case .none: nil
            case .customerID: .customerID(text(fields.customer))
            case .appAccountToken: .appAccountToken(text(fields.customer))
            case .appTransactionID: .appTransactionID(text(fields.customer))
            case .originalTransactionID: .originalTransactionID(text(fields.customer))
            }
        check.subject =
            switch fields.subjectKind {
            case .none: nil
            case .product: .product(text(fields.subject))
            case .entitlement: .entitlement(text(fields.subject))
            }
        check.atMilliseconds = fields.atMilliseconds
        check.minRevision = fields.minRevision
        check.units = fields.units
        check.scope = .init(
            bundleID: text(fields.bundleID), environment: .init(rawValue: fields.environment))
        return check
    }

    static func normalized(_ request: Request) -> Request {
        var request = request
        switch request.call {
        case .checkAccess(var check):
            check.scope = check.scope ?? .init()
            request.call = .checkAccess(check)
        case .checkAccessBatch(let checks):
            request.call = .checkAccessBatch(
                checks.map {
                    var check = $0
                    check.scope = check.scope ?? .init()
                    return check
                })
        default: break
        }
        return request
    }

    static func randomRequest(_ generator: inout SeededGenerator) -> Request {
        var request = Request(
            id: number(&generator), call: .checkAccess(randomCheck(&generator)))
        if generator.oneIn(3) {
            request.timeoutMilliseconds = UInt32(truncatingIfNeeded: number(&generator))
        }
        if generator.oneIn(4) { request.traceparent = text(&generator) }
        if generator.oneIn(4) { request.apiKey = text(&generator) }
        return request
    }

    static func randomCheck(_ generator: inout SeededGenerator) -> Message.CheckAccessRequest {
        var check = Message.CheckAccessRequest()
        switch generator.next() % 6 {
        case 0: check.customer = .appAccountToken(text(&generator))
        case 1: check.customer = .appTransactionID(text(&generator))
        case 2: check.customer = .originalTransactionID(text(&generator))
        case 3: check.customer = nil
        default: check.customer = .customerID(text(&generator))
        }
        switch generator.next() % 4 {
        case 0: check.subject = .entitlement(text(&generator))
        case 1: check.subject = nil
        default: check.subject = .product(text(&generator))
        }
        if generator.oneIn(2) { check.atMilliseconds = Int64(bitPattern: number(&generator)) }
        if generator.oneIn(3) { check.minRevision = number(&generator) }
        if generator.oneIn(3) { check.units = number(&generator) }
        if generator.oneIn(2) {
            let environment = Int32(truncatingIfNeeded: number(&generator))
            check.scope = .init(
                bundleID: text(&generator), environment: .init(rawValue: environment))
        }
        return check
    }

    /// Small and great numbers, all lengths of varint.
    static func number(_ generator: inout SeededGenerator) -> UInt64 {
        let bits = generator.next()
        return bits >> (generator.next() % 64)
    }

    static func text(_ generator: inout SeededGenerator) -> Text {
        Text(generator.bytes(0...(generator.oneIn(20) ? 200 : 12)))
    }

    static func damage(_ body: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !body.isEmpty else { return }
        let index = Int.random(in: 0..<body.count, using: &generator)
        let tags: [UInt8] = [0x08, 0x0A, 0x10, 0x12, 0x1A, 0x20, 0x22, 0x32, 0x52, 0x80, 0xFF, 0]
        switch generator.next() % 6 {
        case 0: body[index] ^= 1 << UInt8(generator.next() % 8)
        case 1: body[index] = tags.randomElement(using: &generator) ?? 0
        case 2: body.insert(tags.randomElement(using: &generator) ?? 0, at: index)
        case 3: body.remove(at: index)
        case 4: body.removeLast(min(body.count, Int(generator.next() % 4)))
        default:
            let end = Int.random(in: index..<body.count, using: &generator)
            body.insert(contentsOf: Array(body[index...end]), at: index)
        }
    }
}
