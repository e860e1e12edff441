import Storage
import Testing

@Suite struct UsageRecordsTests {
    @Test func `use adds up and stays at the largest number`() {
        var record = UsageRecord(checks: 1, units: .max - 1)
        record.add(UsageRecord(checks: 2, units: 1))
        #expect(record == UsageRecord(checks: 3, units: .max))
        record.add(UsageRecord(checks: .max, units: 1))
        #expect(record == UsageRecord(checks: .max, units: .max))
    }

    @Test(arguments: [
        (Int64(0), UInt32(0)), (86_399_999, 0), (86_400_000, 1), (1_767_225_600_000, 20_454),
        (1_767_225_599_999, 20_453), (-1, 0), (.min, 0), (.max, .max),
    ])
    func `a day is one of UTC`(instant: Int64, day: UInt32) {
        #expect(UTCDay.containing(instant) == day)
    }

    @Test func `a day begins where the one before ends`() {
        #expect(UTCDay.start(of: 20_454) == 1_767_225_600_000)
        #expect(UTCDay.start(of: .max) == 4_294_967_295 * 86_400_000)
    }

    @Test func `a record is read as it was written, and nothing else is`() throws {
        let record = UsageRecord(checks: 3, units: .max)
        let bytes = RecordCodec.encode(record)
        #expect(try RecordCodec.decodeUsage(bytes) == record)
        for end in 0..<bytes.count {
            #expect(throws: StorageError.self) {
                try RecordCodec.decodeUsage(Array(bytes[..<end]))
            }
        }
        #expect(throws: StorageError.self) { try RecordCodec.decodeUsage(bytes + [0]) }
        #expect(throws: StorageError.self) {
            try RecordCodec.decodeUsage([2] + bytes.dropFirst())
        }
    }

    @Test func `the days of a transaction stand under its prefix in order, and no others`() {
        let scope = ScopeNumber(1)
        let (one, longer) = (Array("1".utf8), Array("12".utf8))
        let prefix = Key.usage(one, in: scope)
        let days: [UInt32] = [0, 1, 255, 256, .max]
        let keys = days.map { Key.usage(one, on: $0, in: scope) }
        #expect(keys.allSatisfy { $0.starts(with: prefix) })
        #expect(keys.map { Key.day(ofUsage: $0) } == days)
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        #expect(!Key.usage(longer, on: 1, in: scope).starts(with: prefix))
        #expect(!Key.usage(one, on: 1, in: ScopeNumber(257)).starts(with: prefix))
    }
}
