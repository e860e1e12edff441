@testable import LoadGenerator

/// Where a ledger counts, for as long as the ledger lives.
@safe final class TallyBox {
    private let pointer: UnsafeMutablePointer<LoadTally>

    /// Latencies are recorded of requests that were meant to be sent at this instant or later.
    init(measuredFrom: UInt64 = 0) {
        unsafe pointer = .allocate(capacity: 1)
        var tally = LoadTally()
        tally.measuredFrom = measuredFrom
        unsafe pointer.initialize(to: tally)
    }

    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }

    /// What was counted.
    var tally: LoadTally { unsafe pointer.pointee }

    /// A ledger that counts here.
    func ledger(depth: Int) -> AnswerLedger { unsafe AnswerLedger(depth: depth, tally: pointer) }
}
