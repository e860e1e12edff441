/// What the connections of one loop hold in memory for their peers: frames that are not whole,
/// requests that are not answered, answers that are not taken.
///
/// Each connection has bounds of its own; ten thousand of them at their bounds would be more than a
/// machine has. When all together are over the budget, those go that hold more than their share, as
/// they are looked at.
///
/// Loop thread only.
struct BufferBudget {
    /// What all connections of the loop may hold, in bytes.
    let byteCountMax: Int
    /// What they hold.
    private(set) var byteCount = 0

    /// An empty budget.
    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// A connection holds `byteCount` bytes after `before`.
    mutating func change(from before: Int, to after: Int) { byteCount += after - before }

    /// Whether a connection that holds `heldByteCount` bytes, one of `connectionCount`, has to go.
    func isOver(heldByteCount: Int, connectionCount: Int) -> Bool {
        byteCount > byteCountMax && heldByteCount > byteCountMax / max(1, connectionCount)
    }
}
