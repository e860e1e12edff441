internal import Synchronization

/// Counts the objects of the C library that are alive in this process, so that a test can see a
/// leak. Two relaxed additions per object: nothing on the scale of what they count.
package enum LiveHandles {
    /// The kinds of object that are counted.
    package enum Kind: Int, CaseIterable, Sendable {
        case database, columnFamily, writeBatch, pinnedValue, iterator, snapshot, options, cache
        case tableFileWriter
    }

    private static let databases = Atomic<Int>(0)
    private static let columnFamilies = Atomic<Int>(0)
    private static let writeBatches = Atomic<Int>(0)
    private static let pinnedValues = Atomic<Int>(0)
    private static let iterators = Atomic<Int>(0)
    private static let snapshots = Atomic<Int>(0)
    private static let options = Atomic<Int>(0)
    private static let caches = Atomic<Int>(0)
    private static let tableFileWriters = Atomic<Int>(0)

    /// How many objects of `kind` are alive now.
    package static func count(of kind: Kind) -> Int { adding(0, to: kind) }

    /// How many objects of any kind are alive now.
    package static var total: Int { Kind.allCases.reduce(0) { $0 + count(of: $1) } }

    static func created(_ kind: Kind) { _ = adding(1, to: kind) }

    static func destroyed(_ kind: Kind) { _ = adding(-1, to: kind) }

    private static func adding(_ difference: Int, to kind: Kind) -> Int {
        switch kind {
        case .database: add(difference, databases)
        case .columnFamily: add(difference, columnFamilies)
        case .writeBatch: add(difference, writeBatches)
        case .pinnedValue: add(difference, pinnedValues)
        case .iterator: add(difference, iterators)
        case .snapshot: add(difference, snapshots)
        case .options: add(difference, options)
        case .cache: add(difference, caches)
        case .tableFileWriter: add(difference, tableFileWriters)
        }
    }

    private static func add(_ difference: Int, _ counter: borrowing Atomic<Int>) -> Int {
        counter.add(difference, ordering: .relaxed).newValue
    }
}
