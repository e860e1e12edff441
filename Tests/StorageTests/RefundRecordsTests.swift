import Entitlements
import Storage
import Testing

@Suite struct RefundRecordsTests {
    static let full = RefundRecord(
        ownership: .familyShared, isPaymentReversed: true, productID: "meadow.é",
        endings: [
            .suspended: Ending(
                instant: Timestamp(milliseconds: .min), learnedAt: Timestamp(milliseconds: 2)),
            .revoked: Ending(
                instant: Timestamp(milliseconds: 3), learnedAt: Timestamp(milliseconds: .max),
                isServedUntilLearned: false),
        ])

    @Test func `a record is read as it was written, and nothing else is`() throws {
        let bytes = RecordCodec.encode(Self.full)
        #expect(try RecordCodec.decodeRefund(bytes) == Self.full)
        let bare = RefundRecord(
            ownership: .purchased, isPaymentReversed: false, productID: "",
            endings: [.revoked: Ending(instant: .distantPast, learnedAt: .distantFuture)])
        #expect(try RecordCodec.decodeRefund(RecordCodec.encode(bare)) == bare)
        // One end fewer is a record as well; without any it is none.
        let oneEnd = bytes.count - 17
        for end in 0..<bytes.count where end != oneEnd {
            #expect(throws: StorageError.self, "\(end)") {
                try RecordCodec.decodeRefund(Array(bytes[..<end]))
            }
        }
        #expect(throws: StorageError.self) { try RecordCodec.decodeRefund(bytes + [1]) }
        // The same cause twice, an unknown cause, an unknown ownership, a flag that is none.
        #expect(throws: StorageError.self) {
            try RecordCodec.decodeRefund(bytes + bytes.suffix(17))
        }
        for (index, value) in [
            (oneEnd, UInt8(9)), (oneEnd, 0x80), (oneEnd, 0xC1), (1, 5), (2, 2), (0, 2),
        ] {
            var wrong = bytes
            wrong[index] = value
            #expect(throws: StorageError.self) { try RecordCodec.decodeRefund(wrong) }
        }
    }

    @Test func `keys stand in the order of instants, also before 1970, and are read back`() throws {
        let scope = ScopeNumber(3)
        let instants: [Int64] = [.min, -1, 0, 1, 1_767_225_600_000, .max]
        var keys: [[UInt8]] = []
        for instant in instants {
            for number: UInt64 in [1, .max] {
                for id in ["", "1", "é"] {
                    let position = RefundPosition(
                        instant: Timestamp(milliseconds: instant),
                        customer: CustomerKey(scope: scope, number: number), transactionID: id)
                    let key = Key.refund(position)
                    #expect(try Key.position(ofRefund: key) == position)
                    let first = Key.refunds(from: position.instant, in: scope)
                    #expect(key.starts(with: first))
                    keys.append(key)
                }
            }
        }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    @Test func `a key that is none is damage`() {
        for bytes in [
            [], [UInt8](repeating: 1, count: 17), [UInt8](repeating: 1, count: 18) + [0xFF],
        ] {
            #expect(throws: StorageError.self) { try Key.position(ofRefund: bytes) }
        }
    }
}
