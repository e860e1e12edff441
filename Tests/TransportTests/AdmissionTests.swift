import EventLoop
import Testing

@testable import Transport

@Suite struct AdmissionTests {
    @Test func `the last call that fits is let in, the next is not`() {
        let admission = Admission(countMax: 2, byteCountMax: 100)
        #expect(admission.admit(byteCount: 40))
        #expect(!admission.admit(byteCount: 61))
        #expect(admission.admit(byteCount: 60))
        #expect(!admission.admit(byteCount: 0))
        #expect(admission.outstandingCount == 2)
        admission.release(byteCount: 40)
        #expect(admission.admit(byteCount: 40))
        #expect(!admission.admit(byteCount: 0))
    }

    @Test func `what was refused counts for nothing`() throws {
        let admission = Admission(countMax: 1_000, byteCountMax: 10)
        let threads = try (0..<4).map { _ in
            try Thread(name: "caller") {
                for _ in 0..<5_000 where admission.admit(byteCount: 3) {
                    admission.release(byteCount: 3)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(admission.outstandingCount == 0)
        #expect(admission.admit(byteCount: 10))
    }
}
