import EntitledClient
import FoundationEssentials
import Glibc
import TestSupport
import Synchronization
import Testing
import Wire

/// What a hostile or clumsy peer may send; meanwhile everybody else is served.
///
/// V is a check with id 1 for customer "a" and product "p".
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)), .serialized,
    .timeLimit(.minutes(10)))
struct FrameAttackTests {
    private static let body: [UInt8] = [
        0x08, 0x01, 0x52, 0x08, 0x0A, 0x03, 0x0A, 0x01, 0x61, 0x12, 0x01, 0x70,
    ]
    private static let valid = RawConnection.frame(body)
    private static let limit = 1 << 20

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    /// A purchase of "p" for customer "b" only.
    private static func withServer(
        _ body: (TestServer) async throws -> Void
    ) async throws {
        let server = try await TestServer.start()
        let client = try server.client()
        defer { client.close() }
        _ = try await client.ingestTransactions(
            TransactionUpload(
                customerID: "b",
                signedTransactions: [try server.fixtures.signedText("1", product: "p")]))
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // At least one answer, however short the attack and however busy the machine.
                repeat {
                    let answer = try await client.checkAccess(.customer("b"), product: "p")
                    #expect(answer.isGranted, "another connection was not served right")
                    try await Task.sleep(for: .milliseconds(10))
                } while !isOver.value.load(ordering: .acquiring)
            }
            do {
                defer { isOver.value.store(true, ordering: .releasing) }
                try await body(server)
            }
            try await group.waitForAll()
        }
        #expect(server.process.poll() == nil, "the server has ended")
        #expect(try await server.stop() == .exit(0))
    }

    private static func refused(_ answers: [Response], _ reason: Text) -> Bool {
        answers.count == 1 && answers[0].id == 0 && answers[0].status == .invalidArgument
            && answers[0].reason == reason
    }

    // MARK: Lengths out of bounds

    @Test func `a length beyond the limit is refused before anything is claimed for it`()
        async throws
    {
        try await Self.withServer { server in
            let lengths: [[UInt8]] = [
                [0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0x7F, 0xFF, 0xFF, 0xFF],
                [0x00, 0x10, 0x00, 0x01],
            ]
            for length in lengths {
                for tail in [[], [UInt8](repeating: 0, count: 1_024)] {
                    let connection = try RawConnection(to: server.address)
                    try await connection.send(length + tail)
                    let answers = try await connection.answersUntilClose()
                    #expect(Self.refused(answers, "FRAME_TOO_LARGE"))
                }
            }
            let before = server.process.residentByteCount
            let crowd = try (0..<200).map { _ in try RawConnection(to: server.address) }
            for connection in crowd { try await connection.send(lengths[0]) }
            for connection in crowd {
                let answers = try await connection.answersUntilClose()
                #expect(Self.refused(answers, "FRAME_TOO_LARGE"))
            }
            #expect(server.process.residentByteCount - before < 16 << 20)
        }
    }

    @Test func `a frame of exactly the limit is answered, and one of nothing is refused`()
        async throws
    {
        try await Self.withServer { server in
            let connection = try RawConnection(to: server.address)
            // Field 100, bytes, so long that the whole body has the limit's length.
            let padding = Self.limit - Self.body.count - 2 - 3
            let field: [UInt8] = [
                0xA2, 0x06, UInt8(padding & 0x7F) | 0x80, UInt8(padding >> 7 & 0x7F) | 0x80,
                UInt8(padding >> 14),
            ]
            let whole = Self.body + field + [UInt8](repeating: 0x61, count: padding)
            #expect(whole.count == Self.limit)
            try await connection.send(RawConnection.frame(whole))
            let answers = try await connection.answers(1)
            #expect(answers.map(\.id) == [1] && answers[0].status == .ok)
            try await connection.send([0, 0, 0, 0])
            #expect(Self.refused(try await connection.answersUntilClose(), "MALFORMED_FRAME"))
        }
    }

    // MARK: Pieces and lumps

    @Test func `frames have no edges in common with packets`() async throws {
        try await Self.withServer { server in
            let valid = Self.valid
            let one = try RawConnection(to: server.address)
            for byte in valid {
                try await one.send([byte])
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(try await one.answers(1).map(\.id) == [1])
            for cut in [valid.count + 2, valid.count + 9, 6] {
                let two = try RawConnection(to: server.address)
                let lump = valid + valid
                try await two.send(Array(lump[..<cut]))
                try await Task.sleep(for: .milliseconds(60))
                try await two.send(Array(lump[cut...]))
                #expect(try await two.answers(2).map(\.id) == [1, 1])
            }
            let many = try RawConnection(to: server.address)
            var lump: [UInt8] = []
            for id in 1...1_000 {
                var request = Request(
                    id: UInt64(id),
                    call: .checkAccess(
                        Message.CheckAccessRequest(
                            customer: .customerID("b"), subject: .product("p"))))
                request.timeoutMilliseconds = 20_000
                lump += try RawConnection.frame(request)
            }
            try await many.send(lump)
            let ids = try await many.answers(1_000).map(\.id)
            #expect(ids.sorted() == Array(1...1_000))
        }
    }

    // MARK: Malformed messages

    private static let malformed: [(String, [UInt8])] = [
        ("a string of 2^32-1", [0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]), ("field 0", [0x00]),
        ("wire type 7", [0x0F]),
        (
            "an 11-byte varint",
            [0x78, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        ),
        ("less than announced", [0x0A, 0x05, 0x61, 0x62]),
        ("nested groups", [UInt8](repeating: 0x0B, count: 10_000)),
        (
            "a length of 11 bytes",
            [0x0A, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]
        ),
        (
            "groups in an unknown field",
            body + Array(repeatElement([0xA3, 0x06], count: 64).joined())
        ),
    ]

    @Test func `what is no protobuf is refused and the connection ends`() async throws {
        try await Self.withServer { server in
            for (name, bytes) in Self.malformed {
                let connection = try RawConnection(to: server.address)
                try await connection.send(RawConnection.frame(bytes))
                let answers = try await connection.answersUntilClose()
                #expect(Self.refused(answers, "MALFORMED_FRAME"), "\(name): \(answers)")
            }
        }
    }

    @Test func `a field nobody knows is passed by, a call nobody knows is refused`() async throws {
        try await Self.withServer { server in
            let connection = try RawConnection(to: server.address)
            try await connection.send(
                RawConnection.frame(Self.body + [0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x01]))
            try await connection.send(
                RawConnection.frame(Self.body + [0xA2, 0x06, 0x03, 0x78, 0x79, 0x7A]))
            #expect(try await connection.answers(2).allSatisfy { $0.status == .ok })
            // A call in field 40, id 9.
            try await connection.send(
                RawConnection.frame([0x08, 0x09, 0xC2, 0x02, 0x00]))
            let answers = try await connection.answers(1)
            #expect(answers[0].id == 9 && answers[0].status == .unimplemented)
            #expect(answers[0].reason == "UNKNOWN_CALL")
            // The connection goes on.
            try await connection.send(Self.valid)
            #expect(try await connection.answers(1)[0].status == .ok)
        }
    }

    @Test func `identifiers are UTF-8, and the last of a field given twice counts`() async throws {
        try await Self.withServer { server in
            let connection = try RawConnection(to: server.address)
            try await connection.send(
                RawConnection.frame([
                    0x08, 0x01, 0x52, 0x09, 0x0A, 0x04, 0x0A, 0x02, 0xC3, 0x28, 0x12, 0x01, 0x70,
                ]))
            let refused = try await connection.answers(1)[0]
            #expect(refused.id == 1 && refused.reason == "INVALID_IDENTIFIER")
            let (a, b): ([UInt8], [UInt8]) = ([0x0A, 0x01, 0x61], [0x0A, 0x01, 0x62])
            for (first, second, isGranted) in [(a, b, true), (b, a, false)] {
                let customer = first + second
                let check = [0x0A, UInt8(customer.count)] + customer + [0x12, 0x01, 0x70]
                try await connection.send(
                    RawConnection.frame([0x08, 0x02, 0x52, UInt8(check.count)] + check))
                guard case .checkAccess(let answer)? = try await connection.answers(1)[0].result
                else {
                    Issue.record("no answer")
                    continue
                }
                #expect(answer.granted == isGranted)
            }
        }
    }

    // MARK: Asks and never reads, half-closed

    @Test func `clients that ask and never read cost little and hurt nobody`() async throws {
        try await Self.withServer { server in
            let client = try server.client()
            defer { client.close() }
            let texts = try (0..<300).map {
                try server.fixtures.signedText("9\($0)", product: "item.\($0)")
            }
            for start in stride(from: 0, to: 300, by: 100) {
                _ = try await client.ingestTransactions(
                    TransactionUpload(
                        customerID: "heavy", signedTransactions: Array(texts[start..<start + 100])))
            }
            var request = Message.GetCustomerRequest()
            request.customer = .customerID("heavy")
            let frames = Array(
                repeatElement(
                    try RawConnection.frame(Request(id: 1, call: .getCustomer(request))),
                    count: 1_000
                ).joined())
            let before = server.process.residentByteCount
            let crowd = try (0..<20).map { _ in try RawConnection(to: server.address) }
            for connection in crowd {
                let taken = try await connection.flood(
                    frames, limit: 64 << 20, patience: .milliseconds(60))
                #expect(taken < 64 << 20, "the server never stopped reading")
            }
            let growth = server.process.residentByteCount - before
            #expect(growth < (Programs.areSanitized ? 256 : 64) << 20, "\(growth) bytes")
            #expect(
                try await client.checkAccess(.customer("heavy"), product: "item.7").isGranted)
        }
    }

    @Test func `half-closed connections get their answers, and half a frame is none`()
        async throws
    {
        try await Self.withServer { server in
            let whole = try RawConnection(to: server.address)
            try await whole.send(Self.valid)
            whole.shutdownWrites()
            #expect(try await whole.answersUntilClose().map(\.id) == [1])
            let half = try RawConnection(to: server.address)
            try await half.send(Array(Self.valid.prefix(8)))
            half.shutdownWrites()
            #expect(try await half.answersUntilClose().isEmpty)
            for _ in 0..<20 {
                let gone = try RawConnection(to: server.address)
                try await gone.send(Self.valid)
                gone.reset()
            }
            var link = Message.LinkCustomerRequest()
            link.customerID = "z"
            link.householdID = "h"
            let frame = try RawConnection.frame(Request(id: 3, call: .linkCustomer(link)))
            let revision = try await Self.revision(of: server)
            let cut = try RawConnection(to: server.address)
            try await cut.send(Array(frame.dropLast()))
            cut.shutdownWrites()
            #expect(try await cut.answersUntilClose().isEmpty)
            #expect(try await Self.revision(of: server) == revision)
        }
    }

    private static func revision(of server: TestServer) async throws -> UInt64 {
        let client = try server.client()
        defer { client.close() }
        return try await client.serverInfo().revision
    }

    // MARK: Too many

    @Test func `more calls in flight than allowed are refused, the others answered`() async throws {
        let server = try await TestServer.start(flags: ["--limits-max-inflight", "8"])
        let connection = try RawConnection(to: server.address)
        var lump: [UInt8] = []
        for id in 1...40 {
            var check = Message.CheckAccessRequest(
                customer: .customerID("u"), subject: .product("p"))
            // Waits for a revision that does not come.
            check.minRevision = 1_000
            var request = Request(id: UInt64(id), call: .checkAccess(check))
            request.timeoutMilliseconds = 300
            lump += try RawConnection.frame(request)
        }
        try await connection.send(lump)
        let answers = try await connection.answers(40)
        let reasons = answers.map(\.reason.description)
        #expect(reasons.filter { $0 == "OVERLOADED" }.count == 32)
        #expect(reasons.filter { $0 == "REVISION_NOT_REACHED" }.count == 8)
        #expect(try await server.stop() == .exit(0))
    }

    @Test func `a connection beyond the limit is told so`() async throws {
        let server = try await TestServer.start(flags: ["--limits-max-connections", "3"])
        let first = try (0..<3).map { _ in try RawConnection(to: server.address) }
        for connection in first { try await connection.send(Self.valid) }
        for connection in first { #expect(try await connection.answers(1).count == 1) }
        let next = try RawConnection(to: server.address)
        let answers = try await next.answersUntilClose()
        #expect(answers.count == 1 && answers.first?.reason == "OVERLOADED")
        #expect(answers.first?.status == .resourceExhausted)
        try await first[0].send(Self.valid)
        #expect(try await first[0].answers(1)[0].status == .ok)
        #expect(try await server.stop() == .exit(0))
    }
}
