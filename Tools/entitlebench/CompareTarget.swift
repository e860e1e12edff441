internal import EventLoop
internal import LoadGenerator
internal import ToolSupport

/// How hard a server is driven.
struct CompareShape: Hashable, Sendable {
    /// Connections.
    let connectionCount: Int
    /// Requests in flight on each.
    let depth: Int

    /// So many connections with so many requests each.
    init(_ connectionCount: Int, _ depth: Int) {
        self.connectionCount = connectionCount
        self.depth = depth
    }

    /// `16x64`; nil when the text is no shape within the bounds of a comparison.
    init?(_ text: Substring) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let connectionCount = parts[0], let depth = parts[1],
            (1...1_000).contains(connectionCount), (1...1_000).contains(depth)
        else { return nil }
        self.init(connectionCount, depth)
    }

    /// Requests in flight on all of them.
    var requestCount: Int { connectionCount * depth }

    /// `16 x 64`.
    var title: String { "\(connectionCount) x \(depth)" }

    /// What the budget is set for.
    static let usual = [
        CompareShape(1, 1), CompareShape(64, 1), CompareShape(16, 16), CompareShape(16, 64),
    ]
}

/// A server in a comparison.
struct CompareTarget: Equatable, Sendable {
    /// What a server speaks, and what it is asked.
    enum Kind: String, CaseIterable, Sendable {
        case entitled, redis, memcached, postgresql, grpc, echo
    }

    /// What it is called in the table.
    let name: String
    /// What it speaks.
    let kind: Kind
    /// Where it is.
    let address: SocketAddress
    /// Driven in these shapes only; nil = in all.
    let shapes: [CompareShape]?

    /// A server.
    init(_ name: String, _ kind: Kind, at address: SocketAddress, shapes: [CompareShape]? = nil) {
        self.name = name
        self.kind = kind
        self.address = address
        self.shapes = shapes
    }

    /// Reads `NAME=KIND:ADDRESS`, with `@16x16+1x1` behind it for some shapes only.
    ///
    /// - Throws: `CommandFailure` with `.usage` that says what is wrong.
    init(_ text: String) throws(CommandFailure) {
        let hint = "write NAME=KIND:ADDRESS, e.g. redis=redis:127.0.0.1:6379"
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex,
            let colon = text[equals...].firstIndex(of: ":")
        else { throw CommandFailure(.usage, "`\(text)` is no server to compare with", hint: hint) }
        name = String(text[..<equals])
        let word = String(text[text.index(after: equals)..<colon])
        guard let kind = Kind(rawValue: word) else {
            let kinds = Kind.allCases.map(\.rawValue)
            throw CommandFailure(
                .usage, "`\(word)` is no kind of server",
                hint: "kinds are \(kinds.joined(separator: ", "))")
        }
        self.kind = kind
        let parts = text[text.index(after: colon)...].split(
            separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        do throws(AddressError) {
            address = try SocketAddress(String(parts.first ?? ""))
        } catch {
            throw CommandFailure(.usage, "\(name): \(error)", hint: hint)
        }
        guard address.isLocal else {
            throw CommandFailure(
                .usage, "\(name): \(address) is not on this machine",
                hint: "a comparison over a network measures the network")
        }
        shapes = try parts.count > 1 ? Self.shapes(parts[1], separator: "+") : nil
    }

    /// Reads `1x1,16x64`.
    ///
    /// - Throws: `CommandFailure` with `.usage`.
    static func shapes(
        _ text: Substring, separator: Character = ","
    ) throws(CommandFailure) -> [CompareShape] {
        var shapes: [CompareShape] = []
        for part in text.split(separator: separator, omittingEmptySubsequences: false) {
            guard let shape = CompareShape(part) else {
                throw CommandFailure(
                    .usage, "`\(part)` is no shape",
                    hint: "16x64 means 16 connections with 64 requests in flight on each")
            }
            guard !shapes.contains(shape) else {
                throw CommandFailure(.usage, "\(part) is named twice")
            }
            shapes.append(shape)
        }
        return shapes
    }

    /// Whether it is driven so.
    func takes(_ shape: CompareShape) -> Bool { shapes?.contains(shape) ?? true }
}
