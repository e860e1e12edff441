import Entitlements
import SnapshotTable

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[Int(next() % UInt64(choices.count))]
    }

    /// A small instant, or a far end.
    mutating func instant() -> Int64 {
        pick([.min, .max, .max, .max, Int64(next() % 30) * 10, Int64(next() % 30) * 10])
    }

    /// Any grant that a codec may meet; `start` is given, because lists are sorted by it.
    mutating func grant(start: Int64) -> Grant {
        var grant = Grant(
            type: ProductType(rawValue: UInt8(next() % 5)) ?? .unknown,
            ownership: Ownership(rawValue: UInt8(next() % 5)) ?? .other, start: start)
        grant.end = instant()
        grant.graceEnd = pick([.min, .min, instant()])
        grant.revokedFrom = instant()
        grant.overriddenFrom = instant()
        grant.suspendedFrom = instant()
        grant.suspendedFromWhenProratedKept = instant()
        grant.upgradedFrom = instant()
        grant.revocationReason = pick([.unspecified, .refunded, .familyLeft, .assignmentEnded])
        grant.flags = Grant.Flags(rawValue: UInt8(next() % 16))
        return grant
    }

    /// Records of one product, in the order of `GrantList`.
    mutating func records(_ count: Int) -> [GrantRecord] {
        let starts = (0..<count).map { _ in Int64(next() % 30) * 10 }.sorted(by: >)
        return starts.compactMap { start in
            var record = GrantRecord.template
            record?.grant = grant(start: start)
            record?.transactionID = text()
            record?.originalTransactionID = text()
            return record
        }
    }

    /// 0 to 40 bytes; some beyond ASCII.
    mutating func text() -> String {
        String((0..<Int(next() % 20)).map { _ in pick(["a", "7", "é", "\u{0}", "z"]) })
    }

    mutating func products(_ names: [String]) -> [ExactName: [GrantRecord]] {
        Dictionary(
            uniqueKeysWithValues: names.map { (ExactName($0), records(Int(1 + next() % 6))) })
    }

    mutating func policy() -> ProductPolicy {
        ProductPolicy(
            duration: pick([0, 50, .max]), keepsProratedRefunds: pick([true, false]),
            familyCut: pick([.off, .declared, .matched]))
    }
}

extension GrantRecord {
    /// A record to fill: records are made by the rules alone.
    static var template: GrantRecord? {
        let transaction = Transaction(
            transactionID: "1", originalTransactionID: "1", productID: "p",
            rawType: "Non-Consumable",
            rawOwnership: "PURCHASED", purchaseDate: nil, signedDate: Timestamp(milliseconds: 0))
        let history = CustomerHistory(
            transactions: ["1": TransactionFact(transaction: transaction)])
        return history.grantsByProduct()["p"]?.first
    }
}

/// The bytes of a span, which macros cannot take apart.
func bytes(_ span: Span<UInt8>) -> [UInt8] {
    var copy: [UInt8] = []
    for index in span.indices { copy.append(span[index]) }
    return copy
}

func text(_ span: Span<UInt8>) -> String { String(decoding: bytes(span), as: UTF8.self) }

func isWellFormed(_ snapshot: [UInt8]) -> Bool { SnapshotView(snapshot.span).isWellFormed }
