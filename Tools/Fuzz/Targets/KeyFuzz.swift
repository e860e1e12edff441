import Entitlements
import Storage

/// Keys of the store, which are taken apart as well.
enum KeyFuzz {
    /// The key.
    static func fuzz(_ input: [UInt8]) throws {
        if let position = try? Key.position(ofRefund: input) {
            try expect(Key.refund(position) == input, "a key of refunds changes on its way")
        }
        if let byDate = Key.matchByDate(ofEarlierKey: input) {
            try expect(byDate.count == input.count + 2, "a key of matches changes its length")
            try expect(
                Key.matchByDate(ofEarlierKey: byDate) == nil, "a key of matches is moved twice")
        }
        let number = Key.trailingNumber(of: input)
        let day = Key.day(ofUsage: input)
        try expect(
            input.count < 8 || UInt32(truncatingIfNeeded: number) == day, "two ends of one key")
        let scope = ScopeNumber(UInt16(truncatingIfNeeded: number))
        try expect(
            Key.day(ofUsage: Key.usage(input, on: day, in: scope)) == day, "a day is lost")
        for prefixByteCount in [0, 4, Key.matchDatesByteCount] {
            let match = try? RecordCodec.decodeMatch(
                key: input, prefixByteCount: prefixByteCount, value: Array(input.suffix(12)))
            guard let match else { continue }
            let again = try RecordCodec.decodeMatch(
                key: input, prefixByteCount: prefixByteCount, value: RecordCodec.encode(match))
            try expect(match == again, "a candidate changes on its way: \(match)")
        }
    }
}
