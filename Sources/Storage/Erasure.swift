import Bytes

// What is to leave the disk after a customer was forgotten. A record that is replaced or removed is
// out of view at once; its bytes stay in logs and tables until those are written anew. Which ranges
// are concerned stands in `meta` from the commit on that forgets until they are clean, so that a
// restart goes on. What stands there names nobody.

/// Keys of one keyspace, from the first to the last of them, both included.
package struct KeyRange: Hashable, Sendable {
    /// Where.
    package var keyspace: Keyspace
    /// The first key.
    package var first: [UInt8]
    /// The last key.
    package var last: [UInt8]

    /// The keys from `first` to `last`.
    package init(_ keyspace: Keyspace, from first: [UInt8], to last: [UInt8]) {
        self.keyspace = keyspace
        self.first = first
        self.last = last
    }

    /// One key.
    package init(_ keyspace: Keyspace, key: [UInt8]) {
        self.init(keyspace, from: key, to: key)
    }

    /// Every key that begins with `prefix`, as far as it goes on with less than 16 bytes of 255.
    package init(_ keyspace: Keyspace, prefix: [UInt8]) {
        self.init(keyspace, from: prefix, to: prefix + [UInt8](repeating: .max, count: 16))
    }

    /// A range that includes this one and whose ends hold no name of a person: numbers of
    /// customers, transactions and revisions may stand in it.
    package var withoutNames: KeyRange {
        let named = KeyRange(keyspace, prefix: Array(first.prefix(3)))
        switch keyspace {
        case .identities: return named
        case .snapshots where first.count > 2 && first[2] == .max: return named
        case .households: return KeyRange(keyspace, prefix: Array(first.prefix(2)))
        case .customers where first.count > Key.customerByteCount:
            return KeyRange(keyspace, prefix: Array(first.prefix(Key.customerByteCount)))
        default: return self
        }
    }
}

extension Key {
    /// The prefix of the marks of what is to leave the disk, in `meta`.
    package static let erasures = Array("erasure".utf8)

    /// What of a customer is to leave the disk, in `meta`.
    package static func erasure(of customer: CustomerKey) -> [UInt8] {
        erasures + self.customer(customer)
    }

    /// Whose such a mark is; nil where the key is none.
    package static func customer(ofErasure key: [UInt8]) -> CustomerKey? {
        guard key.starts(with: erasures), key.count == erasures.count + customerByteCount else {
            return nil
        }
        let scope = ScopeNumber(UInt16(key[erasures.count]) << 8 | UInt16(key[erasures.count + 1]))
        return CustomerKey(scope: scope, number: trailingNumber(of: key))
    }
}

extension RecordCodec {
    /// The ranges of a mark.
    package static func encode(_ ranges: [KeyRange]) -> [UInt8] {
        var writer = begin()
        for range in ranges {
            writer.append(framed: range.keyspace.rawValue)
            append(range.first, to: &writer)
            append(range.last, to: &writer)
        }
        return writer.bytes
    }

    private static func append(_ key: [UInt8], to writer: inout ByteWriter) {
        writer.append(UInt16(key.count))
        writer.append(raw: key)
    }

    /// The ranges of a mark.
    package static func decodeRanges(_ bytes: [UInt8]) throws(StorageError) -> [KeyRange] {
        try decode(.meta, bytes) { (reader) throws(ByteError) in
            var ranges: [KeyRange] = []
            while reader.remaining > 0 {
                guard let keyspace = Keyspace(rawValue: try reader.readString()) else {
                    throw .invalidValue(offset: reader.offset)
                }
                let first = try reader.readRaw(byteCount: Int(try reader.readUInt16()))
                let last = try reader.readRaw(byteCount: Int(try reader.readUInt16()))
                ranges.append(KeyRange(keyspace, from: first, to: last))
            }
            return ranges
        }
    }
}
