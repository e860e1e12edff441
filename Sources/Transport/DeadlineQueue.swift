/// What is to be looked at when, earliest first: a binary heap in one array that is reused.
///
/// Nothing is ever removed from its middle. Whoever takes an entry out checks whether it still
/// means something: almost all calls are answered long before their deadline.
struct DeadlineQueue<Key> {
    private struct Entry {
        var milliseconds: Int64
        var key: Key
    }

    private var heap: [Entry] = []

    var isEmpty: Bool { heap.isEmpty }

    /// The earliest deadline, in milliseconds of the loop's clock.
    var earliestMilliseconds: Int64? { heap.first?.milliseconds }

    /// Adds an entry. Logarithmic.
    mutating func insert(_ key: Key, atMilliseconds milliseconds: Int64) {
        heap.append(Entry(milliseconds: milliseconds, key: key))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].milliseconds < heap[parent].milliseconds else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the earliest entry out if its time has come. Logarithmic.
    mutating func popDue(atMilliseconds now: Int64) -> Key? {
        guard let first = heap.first, first.milliseconds <= now else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.key }
        heap[0] = last
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].milliseconds < heap[earliest].milliseconds {
                earliest = child
            }
            if earliest == parent { break }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
        return first.key
    }

    /// Forgets everything; keeps a small array.
    mutating func removeAll() {
        heap.removeAll(keepingCapacity: heap.capacity <= 1_024)
    }
}
