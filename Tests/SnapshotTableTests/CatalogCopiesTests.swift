import Entitlements
import SnapshotTable
import Synchronization
import Testing

@Suite struct CatalogCopiesTests {
    /// Catalogs that tell their number: the duration of product "p".
    private func catalog(_ number: Int) -> CompiledCatalog {
        CompiledCatalog([
            Catalog(products: ["p": .init(policy: ProductPolicy(duration: Int64(number)))])
        ])
    }

    private func makeReaders(_ count: Int) -> [ReaderSlot] {
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 20, readerCount: count)
        return (0..<count).map { _ in table.makeReader() }
    }

    @Test func `every reader sees what was there last, from its next read on`() {
        let readers = makeReaders(2)
        let copies = CatalogCopies(catalog(1), readerCount: 2)
        #expect(number(copies, readers[0]) == 1)
        copies.replace(with: catalog(2))
        #expect(number(copies, readers[0]) == 2)
        #expect(number(copies, readers[1]) == 2)
        #expect(number(copies, readers[1]) == 2)
    }

    @Test func `catalogs go when the last reader has turned away from them`() {
        let readers = makeReaders(2)
        weak var first: CompiledCatalog?
        weak var last: CompiledCatalog?
        do {
            let copies: CatalogCopies
            do {
                let catalog = catalog(1)
                first = catalog
                copies = CatalogCopies(catalog, readerCount: 2)
            }
            #expect(number(copies, readers[0]) == 1)
            #expect(number(copies, readers[1]) == 1)
            // A read that began before the replacement keeps what it has.
            copies.withCatalog(for: readers[0]) { catalog in
                copies.replace(with: self.catalog(2))
                #expect(number(of: catalog) == 1)
            }
            #expect(number(copies, readers[0]) == 2)
            #expect(first != nil)
            #expect(number(copies, readers[1]) == 2)
            #expect(first == nil)
            do {
                let catalog = catalog(3)
                last = catalog
                copies.replace(with: catalog)
            }
            #expect(number(copies, readers[0]) == 3)
            #expect(last != nil)
        }
        #expect(last == nil)
    }

    @Test func `readers beside a writer never see older catalogs again`() async {
        let readers = makeReaders(4)
        let copies = CatalogCopies(catalog(0), readerCount: 4)
        let published = Count()
        let isDone = Count()
        let wrong = Count()
        await withTaskGroup(of: Void.self) { group in
            for reader in readers {
                group.addTask {
                    var last = 0
                    while isDone.value == 0 {
                        let floor = published.value
                        let value = number(copies, reader)
                        if value < max(last, floor) { wrong.increment() }
                        last = value
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                for value in 1...2_000 {
                    copies.replace(with: catalog(value))
                    published.increment()
                    if value.isMultiple(of: 16) { await Task.yield() }
                }
                isDone.increment()
            }
        }
        #expect(wrong.value == 0)
    }

    @Test func `at least one reader is asked for`() async {
        await #expect(processExitsWith: .failure) {
            _ = CatalogCopies(CompiledCatalog([]), readerCount: 0)
        }
    }
}

private final class Count: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .acquiring) }
    func increment() { count.add(1, ordering: .releasing) }
}

private func number(of catalog: CompiledCatalog) -> Int {
    let name = Array("p".utf8)
    return Int(catalog.policy(for: name.span, in: 0).duration)
}

private func number(_ copies: CatalogCopies, _ reader: ReaderSlot) -> Int {
    var found = -1
    copies.withCatalog(for: reader) { found = number(of: $0) }
    return found
}
