internal import CLibuv

/// A bounded first-in-first-out queue between threads; takers sleep while it is empty.
@safe package final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    // All stored variables are touched only between `uv_mutex_lock` and `uv_mutex_unlock`; libuv
    // documents mutexes and conditions as usable from any thread.
    private let mutex: UnsafeMutablePointer<uv_mutex_t>
    private let condition: UnsafeMutablePointer<uv_cond_t>
    private let capacity: Int
    private var elements: [Element] = []
    /// Elements before it are taken already.
    private var head = 0
    private var isClosed = false
    private var waiterCount = 0

    /// - Parameter capacity: The most elements that may wait; at least 1.
    package init(capacity: Int) {
        precondition(capacity > 0, "a queue needs room")
        self.capacity = capacity
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: uv_mutex_t())
        unsafe condition.initialize(to: uv_cond_t())
        let results = unsafe (uv_mutex_init(mutex), uv_cond_init(condition))
        precondition(results == (0, 0), "the system has no mutex left")
    }

    deinit {
        unsafe uv_cond_destroy(condition)
        unsafe uv_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        unsafe uv_mutex_lock(mutex)
        defer { unsafe uv_mutex_unlock(mutex) }
        return body()
    }

    /// How many wait.
    package var count: Int { locked { elements.count - head } }

    /// Adds an element and wakes one taker.
    ///
    /// - Returns: false, without waiting, when the queue is full or closed.
    package func push(_ element: Element) -> Bool {
        locked {
            guard !isClosed, elements.count - head < capacity else { return false }
            elements.append(element)
            if waiterCount > 0 { unsafe uv_cond_signal(condition) }
            return true
        }
    }

    /// Takes the oldest; sleeps until there is one.
    ///
    /// - Returns: nil when the queue is closed and empty.
    package func pop() -> Element? {
        locked {
            waitForElements()
            guard head < elements.count else { return nil }
            let element = elements[head]
            drop(1)
            return element
        }
    }

    /// Takes up to `limit` of the oldest; sleeps until there is at least one.
    ///
    /// - Parameters:
    ///   - limit: The most to take; at least 1.
    ///   - batch: What was taken is appended to it.
    /// - Returns: false when the queue is closed and empty.
    package func pop(upTo limit: Int, into batch: inout [Element]) -> Bool {
        locked {
            waitForElements()
            let taken = min(limit, elements.count - head)
            guard taken > 0 else { return false }
            batch.append(contentsOf: elements[head..<head + taken])
            drop(taken)
            return true
        }
    }

    private func waitForElements() {
        while head == elements.count, !isClosed {
            waiterCount += 1
            unsafe uv_cond_wait(condition, mutex)
            waiterCount -= 1
        }
    }

    /// Forgets the first `count`; moves the rest down when half of the array is spent.
    private func drop(_ count: Int) {
        head += count
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= 1_024)
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// Takes no more; what waits can still be taken, then takers get nothing.
    package func close() {
        locked {
            isClosed = true
            unsafe uv_cond_broadcast(condition)
        }
    }
}
