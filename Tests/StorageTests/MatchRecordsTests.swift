import Entitlements
import Storage
import Testing

@Suite struct MatchRecordsTests {
    static let scope = ScopeNumber(3)
    static let family = FamilyKey(
        productID: "é", purchaseDate: Timestamp(milliseconds: -5),
        expiresDate: Timestamp(milliseconds: .max))
    static let refund = PurchaseRefund(
        date: Timestamp(milliseconds: .min), isProrated: true,
        signedDate: Timestamp(milliseconds: 9))
    static let candidates = [
        FamilyCandidate(customer: 1, transactionID: "1", isPurchase: true),
        FamilyCandidate(customer: .max, transactionID: "1\u{0}", isPurchase: false, isEnded: true),
        FamilyCandidate(
            customer: 0x1_0000_0001, transactionID: "504319184420155588", isPurchase: true,
            lineItemID: "9\u{0}", isEnded: true, refund: refund),
        FamilyCandidate(customer: 2, transactionID: "", isPurchase: false, lineItemID: ""),
    ]

    private func decode(_ candidate: FamilyCandidate, value: [UInt8]) throws -> FamilyCandidate {
        let prefix = Key.matches(Self.family, in: Self.scope)
        return try RecordCodec.decodeMatch(
            key: Key.match(candidate, of: Self.family, in: Self.scope),
            prefixByteCount: prefix.count, value: value)
    }

    @Test(arguments: candidates)
    func `a candidate comes back whole, from key and value`(candidate: FamilyCandidate) throws {
        #expect(try decode(candidate, value: RecordCodec.encode(candidate)) == candidate)
    }

    @Test(arguments: candidates)
    func `every truncation and every byte behind is refused`(candidate: FamilyCandidate) {
        let value = RecordCodec.encode(candidate)
        for count in 0..<value.count {
            #expect(throws: StorageError.self) {
                try decode(candidate, value: Array(value.prefix(count)))
            }
        }
        #expect(throws: StorageError.self) { try decode(candidate, value: value + [0]) }
    }

    @Test func `flags are 0 or 1, and the layout is the known one`() {
        let value = RecordCodec.encode(Self.candidates[0])
        for (index, byte) in [(0, UInt8(2)), (1, 2), (2, 2), (3, 2), (4, 2)] {
            var damaged = value
            damaged[index] = byte
            #expect(throws: StorageError.self, "\(index)") {
                try decode(Self.candidates[0], value: damaged)
            }
        }
    }

    @Test func `a key without a customer, or whose id is no text, is refused`() {
        let prefix = Key.matches(Self.family, in: Self.scope)
        let value = RecordCodec.encode(Self.candidates[0])
        for key in [
            prefix, prefix + [0, 0, 0, 0, 0, 0, 0], prefix + [0, 0, 0, 0, 0, 0, 0, 1, 0xFF],
        ] {
            #expect(throws: StorageError.self) {
                try RecordCodec.decodeMatch(
                    key: key, prefixByteCount: prefix.count, value: value)
            }
        }
    }

    @Test func `groups do not run into each other`() {
        let keys = [
            FamilyKey(
                productID: "p", purchaseDate: Timestamp(milliseconds: 1), expiresDate: nil),
            FamilyKey(
                productID: "p", purchaseDate: Timestamp(milliseconds: 1),
                expiresDate: Timestamp(milliseconds: 1)),
            FamilyKey(
                productID: "p\u{0}", purchaseDate: Timestamp(milliseconds: 1), expiresDate: nil),
            FamilyKey(
                productID: "p", purchaseDate: Timestamp(milliseconds: 256), expiresDate: nil),
        ].map { Key.matches($0, in: Self.scope) }
        for (index, key) in keys.enumerated() {
            for (other, prefix) in keys.enumerated() where other != index {
                #expect(!key.starts(with: prefix))
            }
        }
        #expect(
            !Key.matches(Self.family, in: ScopeNumber(4))
                .starts(with: Key.matches(Self.family, in: Self.scope)))
    }

    @Test func `a recognised purchase stands behind its transaction, and only then`() throws {
        var fact = RecordCodecTests.fullFact
        let plain = RecordCodec.encode(fact)
        #expect(plain.first == 1)
        for refund in [nil, Self.refund] {
            fact.matched = MatchedPurchase(transactionID: "7", kind: .strong, refund: refund)
            let bytes = RecordCodec.encode(fact)
            #expect(bytes.first == 2)
            #expect(Array(bytes.dropFirst().prefix(plain.count - 1)) == Array(plain.dropFirst()))
            #expect(try RecordCodec.decodeTransaction(bytes) == fact)
            for count in 0..<bytes.count {
                #expect(throws: StorageError.self) {
                    try RecordCodec.decodeTransaction(Array(bytes.prefix(count)))
                }
            }
        }
        // An unknown way of finding it.
        fact.matched = MatchedPurchase(transactionID: "", kind: .likely, refund: nil)
        var bytes = RecordCodec.encode(fact)
        bytes[bytes.count - 2] = 9
        #expect(throws: StorageError.self) { try RecordCodec.decodeTransaction(bytes) }
    }

    @Test func `a key of an earlier release tells where the record stands now`() throws {
        for candidate in Self.candidates {
            let now = Key.match(candidate, of: Self.family, in: Self.scope)
            let product = Array(Self.family.productID.text.utf8)
            let framed = [UInt8(0), UInt8(product.count)] + product
            let rest = now[(Key.matchDatesByteCount + framed.count)...]
            let earlier = now[..<2] + framed + now[4..<Key.matchDatesByteCount] + rest
            #expect(Key.matchByDate(ofEarlierKey: Array(earlier)) == now)
            #expect(Key.matchByDate(ofEarlierKey: now) == nil, "it is in order already")
        }
        #expect(Key.matchByDate(ofEarlierKey: [0, 1]) == nil)
    }
}
