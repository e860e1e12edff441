import Entitlements
import Storage
import Testing

@Suite struct LongIndexRecordsTests {
    private static func line(_ id: String, isAwaiting: Bool) -> LongLine {
        var line = LongLine()
        line.newestID = id
        line.newestSignedDate = 7
        line.newestDate = -3
        line.isAwaiting = isAwaiting
        return line
    }

    private static var full: LongIndexRecord {
        var record = LongIndexRecord(
            transactionCount: 50_000, upgradedCount: 3, leastAccount: "é", leastChain: "1\u{0}")
        var cut = LongIndexRecord.Product(isCut: true, restStop: 9, restLineStart: -1)
        cut.heads = [
            LongIndexRecord.Head(signedDate: .max, group: "g"),
            LongIndexRecord.Head(signedDate: 5, group: nil),
            LongIndexRecord.Head(signedDate: 5, group: ""),
        ]
        record.products = [
            cut, LongIndexRecord.Product(isCut: false, restStop: .min, restLineStart: .min),
        ]
        record.chains = ["10": line("12", isAwaiting: true), "1": line("1", isAwaiting: false)]
        record.groups = ["g": line("", isAwaiting: true)]
        return record
    }

    private static let records = [
        full,
        LongIndexRecord(
            transactionCount: 0, upgradedCount: 0, leastAccount: nil, leastChain: nil),
    ]

    @Test(arguments: records)
    func `an index comes back whole`(record: LongIndexRecord) throws {
        #expect(try RecordCodec.decodeLongIndex(RecordCodec.encode(record)) == record)
    }

    @Test(arguments: records)
    func `every truncation and every byte behind is refused`(record: LongIndexRecord) {
        let bytes = RecordCodec.encode(record)
        for count in 0..<bytes.count {
            #expect(throws: StorageError.self) {
                try RecordCodec.decodeLongIndex(Array(bytes.prefix(count)))
            }
        }
        #expect(throws: StorageError.self) { try RecordCodec.decodeLongIndex(bytes + [0]) }
    }

    @Test(arguments: [UInt8(0), 1, 3])
    func `another layout is refused`(layout: UInt8) {
        var bytes = RecordCodec.encode(Self.full)
        bytes[0] = layout
        #expect(throws: StorageError.self) { try RecordCodec.decodeLongIndex(bytes) }
    }
}
