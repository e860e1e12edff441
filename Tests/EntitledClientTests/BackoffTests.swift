import Testing

@testable import EntitledClient

@Suite struct BackoffTests {
    @Test(
        arguments: [
            (1, 10, 20), (2, 20, 40), (3, 40, 80), (7, 640, 1_280), (8, 1_000, 2_000),
            (33, 1_000, 2_000), (1_000_000, 1_000, 2_000),
        ] as [(Int, UInt64, UInt64)])
    func `each failure doubles the wait up to the longest, drawn from the upper half`(
        failureCount: Int, lowest: UInt64, highest: UInt64
    ) {
        let backoff = Backoff(ClientConfiguration())
        let waits = (0..<500).map { _ in
            backoff.milliseconds(afterFailures: failureCount)
        }
        #expect(waits.allSatisfy { $0 >= lowest && $0 <= highest })
        #expect(Set(waits).count > 5)
    }

    @Test(arguments: [
        (Duration.zero, UInt32(1)), (.seconds(-5), 1), (.microseconds(900), 1),
        (.milliseconds(1_500), 1_500), (.seconds(4_294_967), .max), (.seconds(Int64.max), .max),
    ])
    func `a duration on the wire is whole milliseconds within bounds`(
        duration: Duration, milliseconds: UInt32
    ) {
        #expect(duration.wireMilliseconds == milliseconds)
    }
}
