package import Entitlements

// A look at a record of `transactions` that makes no text: where each name stands in the bytes, and
// the plain values. Decoding a record into a `TransactionFact` makes about ten strings; a fold
// needs none of them.

/// A stored fact: its plain values, and where its record and the names in it stand.
package struct StoredFact: Hashable, Sendable, BitwiseCopyable {
    /// Where the record starts.
    package var recordStart: UInt32
    /// How many bytes the record has.
    package var recordByteCount: UInt32
    /// transactionId.
    package var id: TextRange
    /// originalTransactionId.
    package var chain: TextRange
    /// productId.
    package var product: TextRange
    /// subscriptionGroupIdentifier; nil when absent.
    package var group: TextRange?
    /// appAccountToken; nil when absent.
    package var token: TextRange?
    /// appTransactionId; nil when absent.
    package var account: TextRange?
    /// Whether transactionId is digits only, so that ids are compared as numbers.
    package var hasDecimalID: Bool
    /// Whether a family was recognised.
    package var isMatched: Bool
    /// The values.
    package var plain: PlainFact

    /// The record's bytes, as positions.
    package var record: Range<Int> {
        Int(recordStart)..<Int(recordStart) + Int(recordByteCount)
    }

    /// Whether a family may suspend it: then what it grants depends on others' facts.
    package var isShared: Bool { plain.ownership == .familyShared }
}

extension RecordCodec {
    /// Looks at the record of a transaction that starts at `start` in `arena` and goes to its end.
    ///
    /// - Returns: nil where `decodeTransaction` would throw; it says what is wrong.
    package static func locate(in arena: Span<UInt8>, from start: Int) -> StoredFact? {
        guard arena.count <= Int(UInt32.max) else { return nil }
        var cursor = FactCursor(bytes: arena, offset: start)
        let layout = cursor.readUInt8()
        guard 1...4 ~= layout else { return nil }
        let isMatched = layout == 2 || layout == 4
        let id = cursor.readText()
        let chain = cursor.readText()
        let product = cursor.readText()
        let type = cursor.readName(KnownNames.types, ProductType.init(name:))
        let ownership = cursor.readName(KnownNames.ownerships, Ownership.init(name:))
        var plain = PlainFact(type: type, ownership: ownership, signedDate: cursor.readInt64())
        plain.isUpgraded = cursor.readUInt8() == 1
        plain.purchaseDate = cursor.readOptionalInt64()
        plain.expiresDate = cursor.readOptionalInt64()
        plain.revocationDate = cursor.readOptionalInt64()
        plain.isProblemWithApp = cursor.readOptionalInt32() == 1
        plain.revocationKind = cursor.readOptionalKind()
        _ = cursor.readOptionalInt32()
        let token = cursor.readOptionalText()
        let account = cursor.readOptionalText()
        _ = cursor.readOptionalText()
        let group = cursor.readOptionalText()
        _ = cursor.readOptionalInt64()
        _ = cursor.readOptionalText()
        plain.datelessRevoke = cursor.readOptionalInt64()
        plain.grantNotification = cursor.readOptionalInt64()
        plain.activeStatus = cursor.readOptionalInt64()
        plain.datedCopy = cursor.readOptionalInt64()
        if isMatched { cursor.readMatched() }
        if layout > 2 { _ = cursor.readInt64() }
        guard cursor.isSound, cursor.offset == arena.count else { return nil }
        return StoredFact(
            recordStart: UInt32(start), recordByteCount: UInt32(arena.count - start), id: id,
            chain: chain, product: product, group: group, token: token,
            account: account, hasDecimalID: cursor.isDecimal(id), isMatched: isMatched,
            plain: plain)
    }
}

/// Reads a record in place; after the first thing that is wrong, everything reads as zero.
private struct FactCursor: ~Escapable {
    let bytes: Span<UInt8>
    var offset: Int
    var isSound = true

    @_lifetime(copy bytes)
    init(bytes: Span<UInt8>, offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// The position of the next `count` bytes, which are taken; nil, and unsound, past the end.
    @inline(__always)
    mutating func take(_ count: Int) -> Int? {
        guard isSound, count <= bytes.count - offset else {
            isSound = false
            return nil
        }
        defer { offset += count }
        return offset
    }

    mutating func readUInt8() -> UInt8 {
        guard let start = take(1) else { return 0 }
        return bytes[start]
    }

    mutating func readInt64() -> Int64 {
        guard let start = take(8) else { return 0 }
        var value: UInt64 = 0
        for index in start..<start + 8 { value = value << 8 | UInt64(bytes[index]) }
        return Int64(bitPattern: value)
    }

    mutating func readPresence() -> Bool {
        let byte = readUInt8()
        if byte > 1 { isSound = false }
        return byte == 1
    }

    mutating func readOptionalInt64() -> Int64? { readPresence() ? readInt64() : nil }

    mutating func readOptionalInt32() -> Int32? {
        guard readPresence(), let start = take(4) else { return nil }
        var value: UInt32 = 0
        for index in start..<start + 4 { value = value << 8 | UInt32(bytes[index]) }
        return Int32(bitPattern: value)
    }

    mutating func readText() -> TextRange {
        guard let length = take(2) else { return TextRange() }
        let count = Int(bytes[length]) << 8 | Int(bytes[length + 1])
        guard let start = take(count) else { return TextRange() }
        let text = TextRange(start: UInt32(start), count: UInt16(count))
        if !isASCII(text) && string(text) == nil { isSound = false }
        return text
    }

    mutating func readOptionalText() -> TextRange? { readPresence() ? readText() : nil }

    /// A value of Apple's, recognised by its bytes where it is a known one, else by its text.
    mutating func readName<Value>(
        _ known: [(name: [UInt8], value: Value)], _ other: (String) -> Value
    ) -> Value {
        let text = readText()
        for candidate in known where candidate.name.count == Int(text.count) {
            if isEqual(text, candidate.name) { return candidate.value }
        }
        return other(string(text) ?? "")
    }

    private func isEqual(_ text: TextRange, _ name: [UInt8]) -> Bool {
        for index in name.indices where bytes[Int(text.start) + index] != name[index] {
            return false
        }
        return true
    }

    mutating func readOptionalKind() -> RevocationKind {
        guard let text = readOptionalText() else { return .unspecified }
        return RevocationKind(name: string(text))
    }

    /// Passes over a recognised purchase.
    mutating func readMatched() {
        _ = readText()
        if FamilyLinkKind(rawValue: readUInt8()) == nil { isSound = false }
        guard readPresence() else { return }
        _ = readPresence()
        _ = readInt64()
        _ = readInt64()
    }

    private func isASCII(_ text: TextRange) -> Bool {
        var bits: UInt8 = 0
        for index in text.range { bits |= bytes[index] }
        return bits < 0x80
    }

    func isDecimal(_ text: TextRange) -> Bool {
        for index in text.range where bytes[index] < 0x30 || bytes[index] > 0x39 { return false }
        return text.count > 0
    }

    private func string(_ text: TextRange) -> String? {
        var array: [UInt8] = []
        array.reserveCapacity(Int(text.count))
        for index in text.range { array.append(bytes[index]) }
        return String(validating: array, as: UTF8.self)
    }
}

/// Apple's names of types and ownerships, to recognise them without making a text.
private enum KnownNames {
    static let types: [(name: [UInt8], value: ProductType)] = [
        (Array("Auto-Renewable Subscription".utf8), .autoRenewable),
        (Array("Consumable".utf8), .consumable),
        (Array("Non-Consumable".utf8), .nonConsumable),
        (Array("Non-Renewing Subscription".utf8), .nonRenewing),
    ]
    static let ownerships: [(name: [UInt8], value: Ownership)] = [
        (Array("PURCHASED".utf8), .purchased),
        (Array("FAMILY_SHARED".utf8), .familyShared),
        (Array("ASSIGNED".utf8), .assigned),
    ]
}
