/// The sending half of a loop's message queue: any thread.
///
/// The loop is woken only when the queue was empty: one wakeup carries a whole burst.
package final class Inbox<Element: Sendable>: Sendable {
    fileprivate struct Pending: Sendable {
        var elements: [Element] = []
        var isOpen = true
    }

    fileprivate let pending = Locked(Pending())
    fileprivate let signal: WakeupSignal

    fileprivate init(signal: WakeupSignal) { self.signal = signal }

    /// - Returns: false when the loop takes no more; the element is then dropped.
    @discardableResult
    package func send(_ element: Element) -> Bool {
        let (accepted, wasEmpty) = pending.withLock { pending in
            guard pending.isOpen else { return (false, false) }
            let wasEmpty = pending.elements.isEmpty
            pending.elements.append(element)
            return (true, wasEmpty)
        }
        if wasEmpty { signal.send() }
        return accepted
    }

    /// As `send`, with one lock and at most one wakeup for all.
    @discardableResult
    package func send(contentsOf elements: [Element]) -> Bool {
        guard !elements.isEmpty else { return true }
        let (accepted, wasEmpty) = pending.withLock { pending in
            guard pending.isOpen else { return (false, false) }
            let wasEmpty = pending.elements.isEmpty
            pending.elements.append(contentsOf: elements)
            return (true, wasEmpty)
        }
        if wasEmpty { signal.send() }
        return accepted
    }
}

/// The receiving half: loop thread only. Keeps itself alive until it or its loop is closed.
package final class InboxReceiver<Element: Sendable> {
    /// An emptied buffer larger than this is given back: a burst must not pin memory.
    private static var keptCapacityMax: Int { 4_096 }

    /// The half for the other threads.
    package let inbox: Inbox<Element>
    private let wakeup: Wakeup
    private var taken: [Element] = []
    private var onBatch: (([Element]) -> Void)?

    /// The way from the wakeup back to its receiver; dropped with the wakeup's closure.
    private final class Forward {
        var receiver: InboxReceiver?
    }

    /// - Parameters:
    ///   - loop: Who is woken.
    ///   - keepsLoopRunning: Whether the loop's `run()` goes on for this inbox alone.
    ///   - onBatch: Gets all that has arrived, in order of arrival.
    /// - Throws: `UVError` when no descriptor or memory is left.
    package init(
        loop: Loop, keepsLoopRunning: Bool = true, onBatch: @escaping ([Element]) -> Void
    ) throws(UVError) {
        let forward = Forward()
        wakeup = try Wakeup(loop: loop, keepsLoopRunning: keepsLoopRunning) {
            forward.receiver?.deliver()
        }
        inbox = Inbox(signal: wakeup.signal)
        self.onBatch = onBatch
        forward.receiver = self
    }

    /// Delivers what has arrived without waiting for the wakeup.
    package func deliver() {
        guard taken.isEmpty else { return }
        inbox.pending.withLock { swap(&$0.elements, &taken) }
        guard !taken.isEmpty else { return }
        let batch = taken
        taken = []
        onBatch?(batch)
        recycle(batch)
    }

    private func recycle(_ batch: consuming [Element]) {
        guard taken.isEmpty, batch.capacity <= Self.keptCapacityMax else { return }
        batch.removeAll(keepingCapacity: true)
        taken = batch
    }

    /// Takes no more; what has not been delivered is dropped.
    package func close() {
        inbox.pending.withLock {
            $0.isOpen = false
            $0.elements = []
        }
        wakeup.close()
        onBatch = nil
    }
}
