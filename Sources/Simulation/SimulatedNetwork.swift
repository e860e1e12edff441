internal import TestSupport

/// What arrives at one end of a connection.
enum Segment: Sendable {
    case bytes([UInt8])
    /// The other side has ended its output.
    case end
    /// The connection is broken.
    case reset
}

/// One connection between a client and the server: two directions, each in order, and a bound on
/// what is on its way to the client.
struct SimulatedLink: Sendable {
    let id: Int
    let client: Int
    /// When the last segment of each direction arrives; the next one is not before it.
    var toServerArrival: Int64 = 0
    var toClientArrival: Int64 = 0
    /// Bytes that the client has not taken.
    var unreadByteCount = 0
    /// How many of those the sockets of both sides hold at most.
    let windowByteCount: Int
    /// Nothing of what is on its way arrives.
    var isBroken = false
    var clientHasEnded = false
    /// Whether it carried bytes that are no frames, or a frame that took too long.
    var isTainted = false
}

/// Decides when what is sent arrives, in which pieces, and what breaks.
struct SimulatedNetwork {
    private let plan: SimulationPlan
    private var generator: SeededGenerator
    private(set) var links: [Int: SimulatedLink] = [:]
    private var linkCount = 0
    /// Faults are over.
    var isCalm = false

    init(_ plan: SimulationPlan) {
        self.plan = plan
        generator = SeededGenerator(seed: plan.seed ^ 0x2222_4444_8888)
    }

    func has(_ fault: FaultKind) -> Bool { !isCalm && plan.faults.contains(fault) }

    /// Opens a connection for a client.
    mutating func open(for client: Int, at now: Int64) -> Int {
        linkCount += 1
        let window = has(.slowReaders) ? generator.pick([64, 512, 4_096]) : 1 << 20
        links[linkCount] = SimulatedLink(
            id: linkCount, client: client, toServerArrival: now, toClientArrival: now,
            windowByteCount: window)
        return linkCount
    }

    func link(_ id: Int) -> SimulatedLink? { links[id] }

    mutating func change(_ id: Int, _ body: (inout SimulatedLink) -> Void) {
        if links[id] != nil, var link = links[id] {
            body(&link)
            links[id] = link
        }
    }

    mutating func forget(_ id: Int) { links[id] = nil }

    /// Cuts what is sent into segments, each with its time of arrival.
    mutating func segments(of bytes: [UInt8]) -> [[UInt8]] {
        guard has(.chunks), bytes.count > 1 else { return [bytes] }
        var segments: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count > 1, segments.count < 6, !generator.oneIn(3) {
            // Cuts in the middle of a prefix matter as much as cuts anywhere.
            let limit = generator.oneIn(3) ? min(6, rest.count - 1) : rest.count - 1
            let count = generator.number(1...limit)
            segments.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        segments.append(Array(rest))
        return segments
    }

    /// When the next segment arrives.
    mutating func arrival(after last: Int64, at now: Int64) -> Int64 {
        var delay = Int64(generator.number(0...2))
        if has(.delays), generator.oneIn(6) { delay += Int64(generator.number(5...400)) }
        if has(.stalls), generator.oneIn(200) { delay += Int64(generator.number(2_000...12_000)) }
        return max(last, now + delay)
    }

    mutating func oneIn(_ count: UInt64) -> Bool { generator.oneIn(count) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { generator.number(range) }
}
