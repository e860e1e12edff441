internal import EventLoop

/// Whose TLS handshake goes on next on a loop, and when.
///
/// A step of a handshake takes some 0.2 to 1 ms, a check less than a microsecond. libuv hands out
/// all that arrived in one iteration, so a thousand clients that come back at once, or somebody who
/// only begins handshakes, would keep every check waiting for a second. A few steps are done in
/// each iteration; all others wait in line, and checks that arrived meanwhile go before them.
///
/// Loop thread only.
final class HandshakeQueue {
    /// Steps in one iteration of the loop.
    private static let stepCountMax = 2

    /// How many handshakes may be under way.
    let countMax: Int
    /// Handshakes under way.
    private(set) var count = 0
    private var stepsLeft = HandshakeQueue.stepCountMax
    /// Connections whose bytes wait, the first from `head` on; nil before it: they had their turn.
    private var waiting: [ConnectionHandler?] = []
    private var head = 0
    /// Keeps the loop from sleeping while somebody waits.
    private let awake: Timer

    init(loop: Loop, countMax: Int) throws(UVError) {
        self.countMax = countMax
        awake = try Timer(loop: loop) {}
    }

    /// Whether another handshake may begin; it counts from now on.
    func begin() -> Bool {
        guard count < countMax else { return false }
        count += 1
        return true
    }

    /// One is over, or its connection is closed.
    func end() { count -= 1 }

    /// Whether bytes that arrived may be dealt with now.
    func takesStep() -> Bool {
        guard stepsLeft > 0, head == waiting.count else { return false }
        stepsLeft -= 1
        return true
    }

    /// `handler` has its turn later, by `goOnWithHandshake`.
    func enqueue(_ handler: ConnectionHandler) {
        waiting.append(handler)
        awake.start(afterMilliseconds: 0)
    }

    /// An iteration is over: the next few have their turn.
    func iterationEnded() {
        stepsLeft = Self.stepCountMax
        guard head < waiting.count else { return }
        while stepsLeft > 0, head < waiting.count {
            let handler = waiting[head]
            waiting[head] = nil
            head += 1
            guard let handler, handler.isWaitingForHandshake else { continue }
            stepsLeft -= 1
            handler.goOnWithHandshake()
        }
        if head == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            head = 0
        } else {
            awake.start(afterMilliseconds: 0)
        }
    }

    /// The loop ends.
    func close() {
        waiting.removeAll()
        head = 0
        awake.close()
    }
}
