/// A thread with a loop that serves until told to stop.
package final class LoopThread: Sendable {
    private let thread: Thread
    private let inbox: Inbox<@Sendable (Loop) -> Void>

    /// Starts the thread and waits until its loop is there.
    ///
    /// - Parameters:
    ///   - name: Of the thread.
    ///   - spinMicroseconds: See `Loop.run`.
    ///   - setUp: Runs first, on the new thread; make handles here.
    /// - Throws: `UVError` when the system refuses a thread or a loop.
    package init(
        name: String, spinMicroseconds: UInt64 = 0,
        setUp: @escaping @Sendable (Loop) -> Void = { _ in }
    ) throws(UVError) {
        let started = BlockingQueue<Result<Inbox<@Sendable (Loop) -> Void>, UVError>>(capacity: 1)
        thread = try Thread(name: name) {
            LoopThread.serve(started, spinMicroseconds, setUp)
        }
        switch started.pop() {
        case .success(let inbox): self.inbox = inbox
        case .failure(let error):
            thread.join()
            throw error
        case nil: preconditionFailure("the queue is closed by nobody")
        }
    }

    private static func serve(
        _ started: BlockingQueue<Result<Inbox<@Sendable (Loop) -> Void>, UVError>>,
        _ spinMicroseconds: UInt64, _ setUp: @Sendable (Loop) -> Void
    ) {
        let loop: Loop
        do throws(UVError) {
            loop = try Loop()
        } catch {
            _ = started.push(.failure(error))
            return
        }
        defer { loop.close() }
        do throws(UVError) {
            let receiver = try InboxReceiver<@Sendable (Loop) -> Void>(loop: loop) { batch in
                for work in batch { work(loop) }
            }
            setUp(loop)
            _ = started.push(.success(receiver.inbox))
            loop.run(spinMicroseconds: spinMicroseconds)
            receiver.close()
        } catch {
            _ = started.push(.failure(error))
        }
    }

    /// Has the loop's thread call `work`. Any thread; in order for one sender.
    ///
    /// - Returns: false when the loop has stopped.
    @discardableResult
    package func execute(_ work: @escaping @Sendable (Loop) -> Void) -> Bool {
        inbox.send(work)
    }

    /// Ends the loop: its handles are closed, its thread returns. Any thread.
    package func stop() {
        execute { $0.stop() }
    }

    /// Waits for the thread's end.
    package func join() { thread.join() }
}
