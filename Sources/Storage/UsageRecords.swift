import Bytes

/// What was granted on one transaction on one day.
package struct UsageRecord: Hashable, Sendable {
    /// How many checks of the present it granted.
    package var checks: UInt64
    /// What those checks said that serving them costs, in the app's own units.
    package var units: UInt64

    /// So many checks and units.
    package init(checks: UInt64 = 0, units: UInt64 = 0) {
        self.checks = checks
        self.units = units
    }

    /// Adds both; at the largest number they stay.
    package mutating func add(_ other: UsageRecord) {
        checks = saturatingSum(checks, other.checks)
        units = saturatingSum(units, other.units)
    }
}

/// The sum, or the largest number where it does not fit.
private func saturatingSum(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
}

/// Days of UTC, counted from 1970-01-01.
package enum UTCDay {
    /// 86,400,000: days of UTC have no leap seconds in Apple's milliseconds.
    package static let milliseconds: Int64 = 86_400_000

    /// The day of an instant in ms since 1970; the first or the last one that keys can name where
    /// it is beyond them.
    package static func containing(_ instant: Int64) -> UInt32 {
        UInt32(clamping: instant >= 0 ? instant / milliseconds : 0)
    }

    /// When a day begins, in ms since 1970.
    package static func start(of day: UInt32) -> Int64 { Int64(day) * milliseconds }
}

extension Key {
    /// The prefix of all days of a transaction, in `usage`.
    package static func usage(_ transactionID: [UInt8], in scope: ScopeNumber) -> [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.append(scope.value)
        writer.append(framed: transactionID)
        return writer.bytes
    }

    /// One day of a transaction, in `usage`.
    package static func usage(
        _ transactionID: [UInt8], on day: UInt32, in scope: ScopeNumber
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.append(scope.value)
        writer.append(framed: transactionID)
        writer.append(day)
        return writer.bytes
    }

    /// The day that a key of `usage` ends in.
    package static func day(ofUsage key: [UInt8]) -> UInt32 {
        key.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension RecordCodec {
    /// What was granted on a day.
    package static func encode(_ record: UsageRecord) -> [UInt8] {
        var writer = begin()
        writer.append(record.checks)
        writer.append(record.units)
        return writer.bytes
    }

    /// What was granted on a day.
    package static func decodeUsage(_ bytes: [UInt8]) throws(StorageError) -> UsageRecord {
        try decode(.usage, bytes) { (reader) throws(ByteError) in
            UsageRecord(checks: try reader.readUInt64(), units: try reader.readUInt64())
        }
    }
}
