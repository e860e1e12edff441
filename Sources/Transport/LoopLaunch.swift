internal import EventLoop
internal import Storage

/// The start of one loop's thread, step by step with the thread that starts the server:
/// the loop gives its port, gets the desk that needs all ports, listens, says so, and runs.
final class LoopLaunch: Sendable {
    private let ports = BlockingQueue<Result<LoopPort, UVError>>(capacity: 1)
    private let desks = BlockingQueue<CallDesk>(capacity: 1)
    private let outcomes = BlockingQueue<Result<Void, UVError>>(capacity: 1)

    /// Where messages go before and after there is a server loop.
    private final class Relay {
        var deliver: ([LoopMessage]) -> Void = { _ in }
    }

    // MARK: The starting thread

    /// The loop's port.
    ///
    /// - Throws: `UVError` when the loop could not be made.
    func port() throws(UVError) -> LoopPort {
        guard let result = ports.pop() else {
            preconditionFailure("a loop tells its port before it ends")
        }
        return try result.get()
    }

    /// Hands the desk over and waits until the loop listens.
    ///
    /// - Throws: `UVError` when it cannot.
    func begin(with desk: CallDesk) throws(UVError) {
        _ = desks.push(desk)
        guard let result = outcomes.pop() else { return }
        try result.get()
    }

    /// Ends a loop that has not begun.
    func giveUp() { desks.close() }

    // MARK: The loop's thread

    /// Runs the loop until it is stopped.
    ///
    /// - Parameters:
    ///   - spinMicroseconds: See `Loop.run`.
    ///   - sockets: Where it listens.
    ///   - make: Makes the server loop.
    func run(
        spinMicroseconds: UInt64, _ sockets: [ListeningSocket],
        _ make: (Loop, CallDesk, LoopPort) throws(UVError) -> ServerLoop
    ) {
        let loop: Loop
        do throws(UVError) {
            loop = try Loop()
        } catch {
            _ = ports.push(.failure(error))
            return
        }
        defer { loop.close() }
        do throws(UVError) {
            let relay = Relay()
            let receiver = try InboxReceiver<LoopMessage>(loop: loop) { relay.deliver($0) }
            let port = LoopPort(inbox: receiver.inbox)
            _ = ports.push(.success(port))
            guard let desk = desks.pop() else { return }
            let server = try make(loop, desk, port)
            // The handles refer to it until the loop is closed.
            defer {
                relay.deliver = { _ in }
                loop.close()
                withExtendedLifetime(server) {}
            }
            relay.deliver = { [unowned server] in server.received($0) }
            try server.listen(on: sockets)
            _ = outcomes.push(.success(()))
            loop.run(spinMicroseconds: spinMicroseconds)
        } catch {
            _ = ports.push(.failure(error))
            _ = outcomes.push(.failure(error))
        }
    }
}
