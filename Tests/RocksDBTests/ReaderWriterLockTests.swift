import RocksDB
import Synchronization
import Testing

@Suite struct ReaderWriterLockTests {
    @Test func `a writer gives up when readers stay, and changes the value when they go`() {
        let lock = ReaderWriterLock(1)
        lock.withReading { value in
            #expect(value == 1)
            // From another thread it would be the same; on this one it cannot but wait in vain.
            lock.withReading { #expect($0 == 1) }
        }
        let result = lock.withWriting(within: 1) { value in
            value += 1
            return value
        }
        #expect(result == 2)
        lock.withReading { #expect($0 == 2) }
    }

    @Test func `readers stay out while a writer is in, and the writer waits for readers`()
        async throws
    {
        let lock = ReaderWriterLock((first: 0, second: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<2_000 {
                        lock.withReading { #expect($0.first == $0.second) }
                    }
                }
            }
            group.addTask {
                for round in 1...100 {
                    let isDone: Void? = lock.withWriting(within: 30) { value in
                        value.first = round
                        value.second = round
                    }
                    #expect(isDone != nil)
                }
            }
        }
        lock.withReading { #expect($0.first == 100) }
    }
}
