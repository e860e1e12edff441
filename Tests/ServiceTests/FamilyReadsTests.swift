import Entitlements
import Service
import Storage
import TestSupport
import Testing

extension ServiceFixture {
    func family(_ customer: String) throws -> FamilyView {
        let query = FamilyQuery(scope: scope, customer: .customer(customer))
        guard case .family(let view) = try service.read(.family(query)) else {
            throw UnexpectedReply()
        }
        return view
    }

    func audit(countMax: Int = 100, from token: String = "") throws -> AuditPage {
        let query = PageQuery(scope: scope, pageToken: token, countMax: countMax)
        guard case .audit(let page) = try service.read(.audit(query)) else {
            throw UnexpectedReply()
        }
        return page
    }

    /// All findings, in pages of `countMax`.
    func findings(countMax: Int = 100) throws -> [AccessFinding] {
        var findings: [AccessFinding] = []
        var token = ""
        repeat {
            let page = try audit(countMax: countMax, from: token)
            #expect(page.findings.count <= countMax)
            findings += page.findings
            token = page.nextPageToken
        } while !token.isEmpty
        return findings
    }
}

@Suite struct FamilyReadsTests {
    @Test func `a customer is told with his household and with whom he was recognised`() throws {
        let fixture = try ServiceFixture()
        try fixture.makeFamily(["mary", "tom"])
        for name in ["buyer", "mary"] { try fixture.link(name, household: "h") }
        _ = try fixture.desk.perform(fixture.refund()).get()
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(5_000))
        let view = try fixture.family("mary")
        #expect(view.householdID == "h")
        #expect(view.members.map(\.customerID) == ["buyer", "mary"])
        #expect(view.members.map { $0.copies.map(\.transactionID) } == [["1"], ["2"]])
        #expect(view.members.map { $0.copies[0].reason } == [.refunded, .familySuspended])
        #expect(view.members[1].copies[0].revokedAt == ServiceFixture.date(4_000))
        let matched = try #require(view.matched.first)
        #expect(view.matched.count == 1)
        #expect(matched.confidence == .likely && matched.note == "")
        #expect(matched.copies.map(\.customerID) == ["buyer", "mary", "tom"])
        #expect(matched.copies[0].ownership == .purchased)
        #expect(matched.copies[2].reason == .active && matched.copies[2].revokedAt == 0)
        #expect(matched.purchaseDate == ServiceFixture.date(1_000))
        #expect(matched.expiresDate == ServiceFixture.date(90_000))
        #expect(view.warnings == [])
        #expect(view.revision == fixture.service.revision)
        // By the household's name it is the same.
        let query = FamilyQuery(scope: fixture.scope, customer: nil, householdID: "h")
        #expect(try fixture.service.read(.family(query)) == .family(view))
    }

    @Test func `without a household there are no members, and without a family no match`() throws {
        let fixture = try ServiceFixture()
        try fixture.makeFamily(["mary"])
        let view = try fixture.family("mary")
        #expect(view.householdID == "" && view.members == [])
        #expect(view.matched.count == 1)
        try fixture.link("zoe", .originalTransaction("99"))
        #expect(try fixture.family("zoe").matched == [])
    }

    @Test func `a doubtful family is shown with the reason`() throws {
        let fixture = try ServiceFixture()
        try fixture.makeFamily(["mary"])
        try fixture.notify(
            "SUBSCRIBED",
            transaction: try fixture.transaction("50", to: 90_000, changes: noLineItem))
        let matched = try #require(try fixture.family("mary").matched.first)
        #expect(matched.confidence == .ambiguous)
        #expect(matched.note == "2 purchases are equal, and each could be the one that was shared")
        #expect(matched.copies.map(\.transactionID) == ["1", "50", "2"])
    }

    @Test func `strangers and households without people are unknown`() throws {
        let fixture = try ServiceFixture()
        for query in [
            FamilyQuery(scope: fixture.scope, customer: .customer("nobody")),
            FamilyQuery(scope: fixture.scope, customer: nil, householdID: "none"),
        ] {
            let refusal = #expect(throws: Refusal.self) { try fixture.service.read(.family(query)) }
            #expect(refusal?.reason == .unknownCustomer)
        }
        let refusal = #expect(throws: Refusal.self) {
            try fixture.service.read(
                .family(FamilyQuery(scope: fixture.scope, customer: nil)))
        }
        #expect(refusal?.reason == .invalidField)
    }

    @Test func `seven people are a warning, six are not`() throws {
        let fixture = try ServiceFixture()
        for index in 1...6 { try fixture.link("p\(index)", household: "h") }
        #expect(try fixture.family("p1").warnings == [])
        try fixture.link("p7", household: "h")
        #expect(try fixture.family("p1").warnings == ["MORE_THAN_SIX_PEOPLE"])
        #expect(try fixture.family("p7").members.count == 7)
    }

    @Test func `what does not fit is left out, oldest first, and that is said`() throws {
        let fixture = try ServiceFixture()
        let name = String(repeating: "n", count: 128)
        for person in 0..<40 {
            let chain = String(repeating: "\(person)x", count: 30)
            try fixture.link("\(name.dropLast(3))\(person)", .originalTransaction(chain))
            try fixture.link("\(name.dropLast(3))\(person)", household: "h")
            var signed: [[UInt8]] = []
            for period in 0..<40 {
                signed.append(
                    try fixture.transaction(
                        "\(chain)-\(period)", original: chain, product: name,
                        from: Int64(period) * 1_000, to: Int64(period) * 1_000 + 1_000,
                        shared: true))
            }
            _ = try fixture.desk.perform(
                .transactions(TransactionUpload(signedTransactions: signed))
            ).get()
        }
        let query = FamilyQuery(scope: fixture.scope, customer: nil, householdID: "h")
        guard case .family(let view) = try fixture.service.read(.family(query)) else {
            throw UnexpectedReply()
        }
        #expect(view.warnings == ["MORE_THAN_SIX_PEOPLE", "OLDER_COPIES_LEFT_OUT"])
        #expect(view.members.count == 40)
        #expect(view.members.allSatisfy { !$0.copies.isEmpty && $0.copies.count < 40 })
        #expect(view.members.allSatisfy { $0.copies[0].transactionID.hasSuffix("-39") })
    }
}

@Suite struct AuditPageTests {
    @Test(arguments: [1, 2, 3, 7, 100])
    func `pages of any size tell everybody once`(countMax: Int) throws {
        let fixture = try ServiceFixture()
        for family in 0..<5 {
            let start = 1_000 + Int64(family)
            for member in 0...family {
                try fixture.notify(
                    "SUBSCRIBED",
                    transaction: try fixture.transaction(
                        "\(family)\(member)", from: start, to: 90_000, shared: member != 0,
                        changes: noLineItem))
            }
            try fixture.notify(
                "REFUND",
                transaction: try fixture.transaction(
                    "\(family)0", from: start, to: 90_000, revoked: 9_000 - Int64(family),
                    changes: noLineItem))
        }
        fixture.clock.now = Timestamp(milliseconds: ServiceFixture.date(10_000))
        let ids = try fixture.findings(countMax: countMax).map(\.copy.transactionID)
        #expect(ids == ["41", "42", "43", "44", "31", "32", "33", "21", "22", "11"])
    }

    @Test(arguments: [
        "x", ".", "0001", "0001.", ".1", "00010000000000000000", "00010000000000000000.x",
        "00090000000000000000.0", "00010000000000000000.0.0", "0001000000000000000.0",
        "00010000000000000000.-1", "00010000000000000000.99999999999",
    ])
    func `a token that no page gave out is refused`(token: String) throws {
        let fixture = try ServiceFixture()
        let refusal = #expect(throws: Refusal.self) { try fixture.audit(from: token) }
        #expect(refusal?.reason == .invalidField)
        #expect(throws: Never.self) { try fixture.audit(from: "00010000000000000000.0") }
    }
}
