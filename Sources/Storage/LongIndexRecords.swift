import Bytes
package import Entitlements

// What stands at the end of the snapshot of a long history, layout 2: all that the commit thread
// needs beside the newest grants to take in the next event without reading the older facts.

/// The newest purchase of a chain that renews, or of a subscription group.
package struct LongLine: Hashable, Sendable {
    /// The newest purchase of a chain; empty for a group.
    package var newestID = ""
    /// When its copy was signed.
    package var newestSignedDate = Int64.min
    /// The latest purchaseDate in ms; `Int64.min` where no transaction has one.
    package var newestDate = Int64.min
    /// Whether a transaction of that date was upgraded, so that what follows it is still to come.
    package var isAwaiting = false

    /// A line without transactions.
    package init() {}
}

/// The part of a long history that is no grant; see above.
package struct LongIndexRecord: Hashable, Sendable {
    /// What is kept of a product besides its grants.
    package struct Product: Hashable, Sendable {
        /// Whether older grants are left out.
        package var isCut: Bool
        /// From when on, in ms, none of those left out can grant; `Int64.min` of none.
        package var restStop: Int64
        /// The latest purchaseDate, in ms, of those left out that are of a chain or a group below;
        /// `Int64.min` of none.
        package var restLineStart: Int64
        /// What is kept beside the grants, in their order.
        package var heads: [Head] = []

        /// A product of which nothing is at hand.
        package init(isCut: Bool, restStop: Int64, restLineStart: Int64) {
            self.isCut = isCut
            self.restStop = restStop
            self.restLineStart = restLineStart
        }
    }

    /// What is kept of a transaction beside its grant.
    package struct Head: Hashable, Sendable {
        /// When its copy was signed.
        package var signedDate: Int64
        /// Its subscription group; nil without one.
        package var group: String?

        /// What is kept of a transaction.
        package init(signedDate: Int64, group: String?) {
            self.signedDate = signedDate
            self.group = group
        }
    }

    /// How many transactions the customer has.
    package var transactionCount: UInt64
    /// How many of them were upgraded.
    package var upgradedCount: UInt64
    /// The least appTransactionId; nil without one.
    package var leastAccount: String?
    /// The least originalTransactionId; nil without transactions.
    package var leastChain: String?
    /// In the order of the snapshot.
    package var products: [Product] = []
    /// Chains with a transaction that renews or was upgraded.
    package var chains: [ExactName: LongLine] = [:]
    /// Subscription groups.
    package var groups: [ExactName: LongLine] = [:]

    /// An index without products.
    package init(
        transactionCount: UInt64, upgradedCount: UInt64, leastAccount: String?,
        leastChain: String?
    ) {
        self.transactionCount = transactionCount
        self.upgradedCount = upgradedCount
        self.leastAccount = leastAccount
        self.leastChain = leastChain
    }
}

extension RecordCodec {
    /// Layout 1 kept no groups and could not count what was upgraded.
    private static let longIndexLayout: UInt8 = 2

    /// The bytes of an index.
    package static func encode(_ record: LongIndexRecord) -> [UInt8] {
        var writer = begin(layout: longIndexLayout)
        writer.append(record.transactionCount)
        writer.append(record.upgradedCount)
        append(record.leastAccount, to: &writer)
        append(record.leastChain, to: &writer)
        writer.append(UInt32(record.products.count))
        for product in record.products {
            writer.append(UInt8(product.isCut ? 1 : 0))
            writer.append(product.restStop)
            writer.append(product.restLineStart)
            writer.append(UInt32(product.heads.count))
            for head in product.heads {
                writer.append(head.signedDate)
                append(head.group, to: &writer)
            }
        }
        append(record.chains, to: &writer)
        append(record.groups, to: &writer)
        return writer.bytes
    }

    private static func append(_ text: String?, to writer: inout ByteWriter) {
        writer.append(UInt8(text == nil ? 0 : 1))
        if let text { writer.append(framed: text) }
    }

    private static func append(
        _ lines: [ExactName: LongLine], to writer: inout ByteWriter
    ) {
        writer.append(UInt32(lines.count))
        for (name, line) in lines.sorted(by: { $0.key < $1.key }) {
            writer.append(framed: name.text)
            writer.append(framed: line.newestID)
            writer.append(line.newestSignedDate)
            writer.append(line.newestDate)
            writer.append(UInt8(line.isAwaiting ? 1 : 0))
        }
    }

    /// An index from its bytes.
    ///
    /// - Throws: `.corruptRecord` where they do not decode.
    package static func decodeLongIndex(
        _ bytes: [UInt8]
    ) throws(StorageError) -> LongIndexRecord {
        try decode(.snapshots, bytes, layout: longIndexLayout) {
            (reader) throws(ByteError) in
            var record = LongIndexRecord(
                transactionCount: try reader.readUInt64(),
                upgradedCount: try reader.readUInt64(),
                leastAccount: try readText(&reader), leastChain: try readText(&reader))
            for _ in 0..<(try reader.readUInt32()) {
                var product = LongIndexRecord.Product(
                    isCut: try reader.readUInt8() == 1, restStop: try reader.readInt64(),
                    restLineStart: try reader.readInt64())
                for _ in 0..<(try reader.readUInt32()) {
                    product.heads.append(
                        LongIndexRecord.Head(
                            signedDate: try reader.readInt64(), group: try readText(&reader)))
                }
                record.products.append(product)
            }
            record.chains = try readLines(&reader)
            record.groups = try readLines(&reader)
            return record
        }
    }

    private static func readText(_ reader: inout ByteReader) throws(ByteError) -> String? {
        try reader.readUInt8() == 1 ? try reader.readString() : nil
    }

    private static func readLines(
        _ reader: inout ByteReader
    ) throws(ByteError) -> [ExactName: LongLine] {
        var lines: [ExactName: LongLine] = [:]
        for _ in 0..<(try reader.readUInt32()) {
            let name = try reader.readString()
            var line = LongLine()
            line.newestID = try reader.readString()
            line.newestSignedDate = try reader.readInt64()
            line.newestDate = try reader.readInt64()
            line.isAwaiting = try reader.readUInt8() == 1
            lines[name] = line
        }
        return lines
    }
}
