internal import TestSupport

/// Who there is and what Apple knows of them: the truth that signed copies are made from.
struct Population {
    /// People of one family at most.
    static let familySizeMax = 6

    static func family(of person: Int) -> Int { person / familySizeMax }

    /// One chain of purchases.
    struct Chain {
        var number: Int
        var person: Int
        var product: SimulatedProduct
        var isShared: Bool
        /// The newest copy of each of its transactions, oldest purchase first.
        var transactions: [TransactionCopy]
        /// Whether a transfer of it was ever asked for.
        var isMoving = false

        var family: Int { Population.family(of: person) }
        var newest: TransactionCopy { transactions[transactions.count - 1] }
    }

    let familyCount: Int
    /// How many people each family has.
    let familySizes: [Int]
    var chains: [Chain] = []
    /// Every copy that was ever signed, for late and stale deliveries.
    private(set) var copies: [TransactionCopy] = []
    private var transactionCounts: [Int]
    private var lastSigned: Int64 = 0

    init(familyCount: Int, _ generator: inout SeededGenerator) {
        self.familyCount = familyCount
        familySizes = (0..<familyCount).map { _ in generator.number(2...Self.familySizeMax) }
        transactionCounts = Array(repeating: 0, count: familyCount)
    }

    var people: [Int] {
        (0..<familyCount).flatMap { family in
            (0..<familySizes[family]).map { family * Self.familySizeMax + $0 }
        }
    }

    func randomPerson(in family: Int? = nil, _ generator: inout SeededGenerator) -> Int {
        let family = family ?? generator.number(0...familyCount - 1)
        return family * Self.familySizeMax + generator.number(0...familySizes[family] - 1)
    }

    /// The number of a family's next transaction; its family follows from it.
    private mutating func nextNumber(in family: Int) -> Int {
        transactionCounts[family] += 1
        return transactionCounts[family] * familyCount + family
    }

    /// When Apple signs next: never twice at the same moment.
    mutating func sign(at now: Int64) -> Int64 {
        lastSigned = max(lastSigned + 1, now)
        return lastSigned
    }

    /// Begins a chain with its first transaction.
    mutating func begin(
        _ product: SimulatedProduct, of person: Int, isShared: Bool, from purchased: Int64,
        to expires: Int64?, carriesToken: Bool, at now: Int64
    ) -> TransactionCopy {
        let number = nextNumber(in: Self.family(of: person))
        let copy = TransactionCopy(
            number: number, chain: number, person: person, product: product, isShared: isShared,
            carriesToken: carriesToken, purchased: purchased, expires: expires,
            signed: sign(at: now))
        chains.append(
            Chain(
                number: number, person: person, product: product, isShared: isShared,
                transactions: [copy]))
        copies.append(copy)
        return copy
    }

    /// Adds the next transaction of a chain.
    mutating func extend(
        _ index: Int, with product: SimulatedProduct, from purchased: Int64, to expires: Int64?,
        at now: Int64
    ) -> TransactionCopy {
        let chain = chains[index]
        let copy = TransactionCopy(
            number: nextNumber(in: chain.family), chain: chain.number, person: chain.person,
            product: product, isShared: chain.isShared, carriesToken: chain.newest.carriesToken,
            purchased: purchased, expires: expires, signed: sign(at: now))
        chains[index].product = product
        chains[index].transactions.append(copy)
        copies.append(copy)
        return copy
    }

    /// Signs a transaction anew, with what `change` does to it.
    mutating func resign(
        _ index: Int, _ transaction: Int, at now: Int64, _ change: (inout TransactionCopy) -> Void
    ) -> TransactionCopy {
        var copy = chains[index].transactions[transaction]
        change(&copy)
        copy.signed = sign(at: now)
        chains[index].transactions[transaction] = copy
        copies.append(copy)
        return copy
    }
}
