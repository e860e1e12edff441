/// What is to happen when: earliest first, and in the order of insertion at the same time.
struct EventQueue<Action> {
    private struct Entry {
        var at: Int64
        var order: UInt64
        var action: Action

        func isBefore(_ other: Entry) -> Bool {
            at != other.at ? at < other.at : order < other.order
        }
    }

    private var heap: [Entry] = []
    private var nextOrder: UInt64 = 0

    var count: Int { heap.count }

    /// When the next one happens, in simulated ms.
    var nextMilliseconds: Int64? { heap.first?.at }

    /// Adds an action.
    mutating func insert(_ action: Action, at milliseconds: Int64) {
        heap.append(Entry(at: milliseconds, order: nextOrder, action: action))
        nextOrder += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the next action out; nil when there is none.
    mutating func pop() -> (at: Int64, action: Action)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return (first.at, first.action) }
        heap[0] = last
        var parent = 0
        while true {
            var earliest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].isBefore(heap[earliest]) {
                earliest = child
            }
            if earliest == parent { break }
            heap.swapAt(parent, earliest)
            parent = earliest
        }
        return (first.at, first.action)
    }
}
