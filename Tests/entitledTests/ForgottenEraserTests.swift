import EventLoop
import Synchronization
import Testing

@testable import entitled

@Suite struct ForgottenEraserTests {
    private final class Count: Sendable {
        let value = Atomic(0)
        let reached = Doorbell()
    }

    @Test func `it erases at the start and once for each ring`() throws {
        let eraser = ForgottenEraser()
        let count = Count()
        try eraser.start {
            count.value.add(1, ordering: .relaxed)
            count.reached.ring()
            return true
        }
        for _ in 0..<3 {
            #expect(count.reached.wait(milliseconds: 60_000))
            eraser.ring()
        }
        eraser.stop()
        eraser.stop()
        #expect(count.value.load(ordering: .relaxed) >= 3)
    }

    @Test func `an end that comes in a pause is an end`() throws {
        let eraser = ForgottenEraser()
        let count = Count()
        eraser.ring()
        try eraser.start {
            count.reached.ring()
            return false
        }
        #expect(count.reached.wait(milliseconds: 60_000))
        eraser.stop()
    }
}
