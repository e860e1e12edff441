import Testing

@testable import EventLoop

@Suite struct LockedTests {
    @Test func `no update of any thread is lost`() throws {
        let numbers = Locked<[Int]>([])
        let threads = try (0..<4).map { thread in
            try Thread(name: "writer") {
                for number in 0..<5_000 {
                    numbers.withLock { $0.append(thread * 5_000 + number) }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(numbers.withLock { $0.sorted() } == Array(0..<20_000))
    }

    @Test func `the result of the body comes out`() {
        let value = Locked(1)
        let old = value.withLock { value in
            defer { value = 2 }
            return value
        }
        #expect(old == 1)
        #expect(value.withLock { $0 } == 2)
    }
}
