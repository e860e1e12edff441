import Entitlements
import Service
import Storage
import TestSupport
import Testing

/// What an export of a service holds, as far as an import asks for it.
struct ExportedFacts {
    struct Link {
        let customerID: String
        let link: LinkView
    }

    struct Member {
        let customerID: String
        let household: String
    }

    var rows: [ImportRow] = []
    var links: [Link] = []
    var members: [Member] = []
    /// Names of whom nothing else is known.
    var bareNames: [String] = []

    /// Reads customer by customer, in pages of about `byteCountMax` bytes.
    init(_ fixture: ServiceFixture, byteCountMax: Int = 4_000) throws {
        guard
            case .customers(let list) = try fixture.service.read(
                .customers(PageQuery(scope: fixture.scope, countMax: 1_000), changedSince: 0))
        else { throw UnexpectedReply() }
        for summary in list.customers {
            var query = CustomerQuery(
                customer: summary.customer, scope: fixture.scope, byteCountMax: byteCountMax,
                wantsAllPayloads: true)
            repeat {
                let page = try fixture.service.customer(query)
                if query.pageToken.isEmpty { add(page, summary.customer) }
                rows += page.transactions.map {
                    ImportRow(
                        customer: summary.customer, signedTransaction: $0.payload,
                        signedRenewal: $0.renewalPayload, evidence: $0.evidence,
                        isChainLinked: $0.isChainLinked)
                }
                query.pageToken = page.nextPageToken
            } while !query.pageToken.isEmpty
        }
    }

    private mutating func add(_ page: CustomerView, _ reference: CustomerReference) {
        guard case .customer(let name) = reference else { return }
        links += page.links.map { Link(customerID: name, link: $0) }
        if !page.householdID.isEmpty {
            members.append(Member(customerID: name, household: page.householdID))
        }
        if page.links.isEmpty, page.householdID.isEmpty, page.transactions.isEmpty {
            bareNames.append(name)
        }
    }

    /// What people said goes first, then the facts, some at a time.
    func hand(to fixture: ServiceFixture, _ generator: inout SeededGenerator) throws {
        for link in links.shuffled(using: &generator) where link.link.movedAt == 0 {
            try fixture.link(link.customerID, link.link.identity)
        }
        for link in links.sorted(by: { $0.link.movedAt < $1.link.movedAt })
        where link.link.movedAt > 0 {
            try fixture.link(link.customerID, link.link.identity, transfer: true)
        }
        for member in members.shuffled(using: &generator) {
            try fixture.link(member.customerID, household: member.household)
        }
        for name in bareNames { try fixture.link(name, leave: true) }
        var rest = rows.shuffled(using: &generator)[...]
        while !rest.isEmpty {
            let batch = Array(rest.prefix(generator.number(1...7)))
            rest = rest.dropFirst(batch.count)
            let reply = try fixture.importing(batch)
            #expect(reply.problems.allSatisfy { $0.isTakenIn }, "\(reply.problems)")
        }
    }
}

extension ServiceFixture {
    /// Hands in rows and gives the answer.
    @discardableResult
    func importing(_ rows: [ImportRow], isDryRun: Bool = false) throws -> ImportReply {
        let call = WriteCall.importing(
            ImportRequest(scope: scope, rows: rows, isDryRun: isDryRun))
        guard case .imported(let reply) = try desk.perform(call).get() else {
            throw UnexpectedReply()
        }
        return reply
    }
}
