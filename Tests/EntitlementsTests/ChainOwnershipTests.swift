import Entitlements
import Testing

@Suite struct ChainOwnershipTests {
    private func claim(
        _ id: String, token: String? = nil, account: String? = nil, from: Int64 = 100,
        signed: Int64 = 100
    ) -> OwnerClaim {
        OwnerClaim(
            .sample(id, from: from, signed: signed) {
                $0.appAccountToken = token
                $0.appTransactionID = account
            })
    }

    private func token(_ name: String) -> Identity { Identity(.appAccountToken, name) }
    private func account(_ name: String) -> Identity { Identity(.appTransaction, name) }
    private func chain(_ name: String) -> Identity { Identity(.originalTransaction, name) }

    private func owners(
        _ chains: [ExactName: [OwnerClaim]], _ said: [Identity: UInt64],
        moved: [Identity: Transfer] = [:]
    ) -> [ExactName: UInt64] {
        ChainOwnership(chains: chains, said: said, transfers: moved).owners()
    }

    @Test func `a chain said in so many words beats token and account`() {
        let found = owners(
            ["c": [claim("1", token: "t", account: "a")]],
            [chain("c"): 1, token("t"): 2, account("a"): 3])
        #expect(found == ["c": 1])
    }

    @Test func `a token beats an account`() {
        let found = owners(
            ["c": [claim("1", token: "t", account: "a")]], [token("t"): 2, account("a"): 3])
        #expect(found == ["c": 2])
    }

    @Test func `an account counts where no token does`() {
        let found = owners(
            ["c": [claim("1", token: "nobody's", account: "a")]], [account("a"): 3])
        #expect(found == ["c": 3])
    }

    @Test func `the newest purchase's token decides, by purchaseDate, then signature, then id`() {
        let said = [token("t1"): UInt64(1), token("t2"): 2]
        let byDate = [claim("1", token: "t1", from: 100), claim("2", token: "t2", from: 200)]
        #expect(owners(["c": byDate], said) == ["c": 2])
        #expect(owners(["c": byDate.reversed()], said) == ["c": 2])
        let bySigning = [claim("9", token: "t1", signed: 101), claim("10", token: "t2")]
        #expect(owners(["c": bySigning], said) == ["c": 1])
        let byID = [claim("9", token: "t1"), claim("10", token: "t2")]
        #expect(owners(["c": byID], said) == ["c": 2])
    }

    @Test func `a renewal without a token leaves the chain with the token of the one before`() {
        let claims = [claim("1", token: "t1", from: 100), claim("2", from: 200)]
        #expect(owners(["c": claims], [token("t1"): 1, account("a"): 2]) == ["c": 1])
    }

    @Test func `a token that nobody named belongs to who owns the newest purchase with it`() {
        let found = owners(
            [
                "c1": [claim("1", token: "t", from: 100)],
                "c2": [claim("2", token: "t", from: 200)],
                "c3": [claim("3", token: "t", from: 50)],
            ], [chain("c1"): 1, chain("c2"): 2])
        #expect(found == ["c1": 1, "c2": 2, "c3": 2])
    }

    @Test func `ownership travels from chain to chain`() {
        let found = owners(
            [
                "c1": [claim("1", token: "t1")], "c2": [claim("2", token: "t1", account: "a1")],
                "c3": [claim("3", account: "a1")], "c4": [claim("4", token: "t4", account: "a1")],
                "c5": [claim("5", token: "t4")], "c6": [claim("6", account: "a9")],
            ], [chain("c1"): 1])
        #expect(found == ["c1": 1, "c2": 1, "c3": 1, "c4": 1, "c5": 1])
    }

    @Test func `a linked account beats a token that nobody named`() {
        let found = owners(
            [
                "c1": [claim("1", token: "t")],
                "c2": [claim("2", token: "t", account: "a", from: 50)],
            ], [chain("c1"): 1, account("a"): 2])
        #expect(found == ["c1": 1, "c2": 2])
    }

    @Test func `the last transfer that names a chain counts, over every link`() {
        let chains: [ExactName: [OwnerClaim]] = [
            "c1": [claim("1", token: "t", account: "a")], "c2": [claim("2", account: "a")],
            "c3": [claim("3", token: "t")],
        ]
        let said = [chain("c1"): UInt64(1), token("t"): 1, account("a"): 1]
        #expect(
            owners(chains, said, moved: [account("a"): Transfer(owner: 2, revision: 9)])
                == ["c1": 2, "c2": 2, "c3": 1])
        let twice = [
            account("a"): Transfer(owner: 2, revision: 9),
            chain("c1"): Transfer(owner: 3, revision: 8),
            token("t"): Transfer(owner: 4, revision: 7),
        ]
        #expect(owners(chains, said, moved: twice) == ["c1": 2, "c2": 2, "c3": 4])
    }

    @Test func `nothing said, nothing owned`() {
        #expect(owners(["c": [claim("1", token: "t")]], [:]) == [:])
        #expect(owners([:], [chain("c"): 1]) == [:])
    }

    @Test(arguments: UInt64(400)...440)
    func `the owners do not depend on the order of claims`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var chains: [ExactName: [OwnerClaim]] = [:]
        for id in 1...12 {
            chains[ExactName("c\(id % 5)"), default: []].append(
                claim(
                    "\(id)", token: generator.pick([nil, "t1", "t2", "t3"]),
                    account: generator.pick([nil, "a1", "a2"]),
                    from: Int64(generator.next() % 4), signed: Int64(generator.next() % 4)))
        }
        let said: [Identity: UInt64] = [chain("c0"): 1, token("t2"): 2, account("a1"): 3]
        let expected = owners(chains, said)
        for _ in 0..<10 {
            let shuffled = chains.mapValues { $0.shuffled(using: &generator) }
            #expect(owners(shuffled, said) == expected, "seed \(seed)")
        }
    }
}
