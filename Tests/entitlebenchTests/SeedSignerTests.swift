import Synchronization
import Testing

@testable import entitlebench

@Suite struct SeedSignerTests {
    private struct Broken: Error {}

    @Test(arguments: [1, 3, 50])
    func `every piece of work is done once, on however many threads`(threadCount: Int) throws {
        let done = Mutex<[Int]>([])
        try SeedThreads.forEach(20, threadCount: threadCount) { index in
            done.withLock { $0.append(index) }
        }
        #expect(done.withLock { $0.sorted() } == Array(0..<20))
    }

    @Test func `without work no thread is started`() throws {
        try SeedThreads.forEach(0, threadCount: 4) { _ in Issue.record("there is no work") }
    }

    @Test func `the first error ends it and is thrown`() {
        let count = Mutex(0)
        #expect(throws: Broken.self) {
            try SeedThreads.forEach(1_000, threadCount: 1) { index in
                count.withLock { $0 += 1 }
                if index == 3 { throw Broken() }
            }
        }
        #expect(count.withLock { $0 } == 4)
    }
}
