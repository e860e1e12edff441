internal import EntitledClient
internal import ToolSupport

/// `ingest`: hands in what Apple POSTed.
enum IngestCommand {
    /// So many notifications are under way at once.
    private static let batchCountMax = 64

    static let command = Command(
        words: ["ingest"], operands: ["FILE"], flags: [],
        summary: "hand in notifications as Apple POSTed them",
        details: [
            "FILE holds one body (V2 or V1) or one bare JWS, or several, one a line; - is stdin.",
            "A repeat does no harm: it is answered DUPLICATE.",
            "JSON, one object a line: line, notificationUUID, notificationType, subtype,",
            "disposition, changes, revision; or line and refusal (status, reason, message).",
        ],
        examples: [
            ("entitlectl ingest body.json", "one notification"),
            ("entitlectl ingest - < saved-bodies.jsonl", "many, one a line"),
        ],
        body: run)

    /// One notification's way.
    private typealias Outcome = Result<IngestedNotification, ClientError>

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let bodies = NotificationFile.bodies(in: try SystemCalls.readFile(invocation.operands[0]))
        guard !bodies.isEmpty else {
            throw CommandFailure(.failed, "\(invocation.operands[0]): there is nothing in it")
        }
        let printer = OutcomePrinter(invocation: invocation, isSingle: bodies.count == 1)
        var refusedCount = 0
        var firstStatus = ExitStatus.failed
        var start = 0
        while start < bodies.count {
            let batch = Array(bodies[start..<min(bodies.count, start + batchCountMax)])
            let outcomes = try await invocation.withClient { (client) throws(ClientError) in
                await handIn(batch, to: client)
            }
            for (body, outcome) in zip(batch, outcomes) {
                switch outcome {
                case .success(let result): printer.print(result, line: body.line)
                case .failure(.refused(let refusal)):
                    if refusedCount == 0 { firstStatus = ExitStatus(refusal.status) }
                    refusedCount += 1
                    printer.print(refusal, line: body.line)
                case .failure(let error):
                    throw stopped(error, at: body.line, invocation, isSingle: bodies.count == 1)
                }
            }
            start += batch.count
        }
        if bodies.count > 1 {
            invocation.console.note(
                "\(bodies.count - refusedCount) of \(bodies.count) taken in")
        }
        return refusedCount == 0 ? .success : bodies.count == 1 ? firstStatus : .failed
    }

    private static func handIn(
        _ bodies: [NotificationFile.Body], to client: Client
    ) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for (index, body) in bodies.enumerated() {
                group.addTask {
                    do throws(ClientError) {
                        return (index, .success(try await client.ingestNotification(body.bytes)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            var outcomes = [Outcome](repeating: .failure(.closed), count: bodies.count)
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
    }

    private static func stopped(
        _ error: ClientError, at line: Int, _ invocation: Invocation, isSingle: Bool
    ) -> CommandFailure {
        let failure = CommandFailure(error, address: invocation.address)
        if isSingle { return failure }
        return CommandFailure(
            failure.status, "line \(line): \(failure.message)",
            hint: "hand the file in again from the start: what was taken in is answered DUPLICATE")
    }
}

/// Says what became of each notification.
private struct OutcomePrinter {
    let invocation: Invocation
    let isSingle: Bool

    func print(_ result: IngestedNotification, line: Int) {
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("line", .integer(Int64(line))),
                    ("notificationUUID", .optional(result.notificationUUID)),
                    ("notificationType", .optional(result.notificationType)),
                    ("subtype", .optional(result.subtype)),
                    ("disposition", .string(result.disposition.name)),
                    ("changes", .array(result.changes.map(\.json))),
                    ("revision", .natural(result.revision)), ("refusal", .null),
                ]))
            return
        }
        let kind = [result.notificationType, result.subtype].filter { !$0.isEmpty }
            .joined(separator: "/")
        var words = Line(isSingle ? "" : "\(line)  ", .dim).adding(result.disposition.name, .bold)
        words = words.adding("  \(kind)  \(result.notificationUUID)  revision \(result.revision)")
        invocation.console.print([words] + AccessChange.lines(result.changes))
    }

    func print(_ refusal: Refusal, line: Int) {
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("line", .integer(Int64(line))),
                    ("refusal", refusal.json),
                ]))
        }
        let place = isSingle ? "" : "line \(line): "
        invocation.console.fail(CommandFailure(.failed, "\(place)refused: \(refusal.description)"))
    }
}

/// Finds the notifications in a file.
enum NotificationFile {
    /// One notification, and the line on which it begins.
    struct Body: Equatable, Sendable {
        let bytes: [UInt8]
        let line: Int
    }

    /// Several bodies when every line that is not empty is one by itself; else the whole file is
    /// one, however many lines it has.
    static func bodies(in bytes: [UInt8]) -> [Body] {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
            .enumerated()
            .map { Body(bytes: trimmed($0.element), line: $0.offset + 1) }
            .filter { !$0.bytes.isEmpty }
        if lines.count > 1, !lines.allSatisfy({ isWhole($0.bytes) }) {
            // Apple's body is taken exactly as it came.
            return [Body(bytes: bytes, line: 1)]
        }
        return lines
    }

    /// A JSON object on one line, or a JWS: three parts of base64url.
    private static func isWhole(_ line: [UInt8]) -> Bool {
        if line.first == UInt8(ascii: "{") {
            return line.count > 1 && line.last == UInt8(ascii: "}")
        }
        return line.filter { $0 == UInt8(ascii: ".") }.count == 2
            && line.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "="):
                    true
                default: false
                }
            }
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return Array(line)
    }
}
