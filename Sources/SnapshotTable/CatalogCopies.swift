import Synchronization

/// The compiled catalogs, which every reader reads without a lock, and which are replaced as a
/// whole now and then.
///
/// Each reader holds a reference of its own and takes the new catalogs when it next reads: one
/// atomic load tells whether there are any. So nothing is counted per read, and catalogs are
/// released when the last reader has turned to newer ones. Not generic over what is read: generic
/// code is not specialised for another module here, and the look-up would cost more than the read.
///
/// Thread safety: `current` is guarded by its mutex; a reader's copy is touched by that reader's
/// thread alone, as its `ReaderSlot` is.
@safe package final class CatalogCopies: @unchecked Sendable {
    @safe private struct Copy {
        var generation: UInt64
        var catalog: Unmanaged<CompiledCatalog>?
    }

    private let current: Mutex<CompiledCatalog>
    private let generation = Atomic<UInt64>(1)
    private let copies: UnsafeMutablePointer<Copy>
    private let readerCount: Int

    /// The same catalogs for every reader.
    ///
    /// - Parameters:
    ///   - catalog: the first ones.
    ///   - readerCount: how many `ReaderSlot`s there are.
    package init(_ catalog: CompiledCatalog, readerCount: Int) {
        precondition(readerCount > 0, "nobody would read")
        current = Mutex(catalog)
        self.readerCount = readerCount
        unsafe copies = .allocate(capacity: readerCount)
        unsafe copies.initialize(repeating: Copy(generation: 0, catalog: nil), count: readerCount)
    }

    deinit {
        for index in 0..<readerCount { unsafe copies[index].catalog?.release() }
        unsafe copies.deinitialize(count: readerCount)
        unsafe copies.deallocate()
    }

    /// Replaces the catalogs: every read that begins after this has returned sees the new ones.
    package func replace(with catalog: CompiledCatalog) {
        current.withLock { $0 = catalog }
        generation.add(1, ordering: .releasing)
    }

    /// Calls `body` with the catalogs, which it must not keep.
    ///
    /// The reader's thread only.
    package func withCatalog(for reader: ReaderSlot, _ body: (CompiledCatalog) -> Void) {
        let newest = generation.load(ordering: .acquiring)
        if unsafe copies[reader.index].generation != newest { take(reader, newest) }
        guard let catalog = unsafe copies[reader.index].catalog else {
            preconditionFailure("taken above, and never given back")
        }
        unsafe catalog._withUnsafeGuaranteedRef { body($0) }
    }

    private func take(_ reader: ReaderSlot, _ newest: UInt64) {
        precondition(reader.index < readerCount, "there are \(readerCount) readers")
        // Of this generation or a later one; if later, they are taken once more.
        let catalog = current.withLock { $0 }
        unsafe copies[reader.index].catalog?.release()
        unsafe copies[reader.index] = Copy(
            generation: newest, catalog: Unmanaged.passRetained(catalog))
    }
}
