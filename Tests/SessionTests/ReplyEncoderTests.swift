import Entitlements
import Session
import Testing
import Wire

@testable import Service

@Suite struct ReplyEncoderTests {
    private func page(_ bench: SessionBench, _ token: Text) throws -> Response {
        var get = Message.GetCustomerRequest()
        get.customer = .customerID("c-ana")
        get.pageToken = token
        return try bench.ask(Request(id: 3, call: .getCustomer(get)))
    }

    /// All pages of c-ana.
    private func pages(_ bench: SessionBench) throws -> [Message.GetCustomerResponse] {
        var pages: [Message.GetCustomerResponse] = []
        repeat {
            let response = try page(bench, pages.last?.nextPageToken ?? "")
            guard case .getCustomer(let page) = response.result else {
                Issue.record("\(response)")
                break
            }
            pages.append(page)
        } while pages.last?.nextPageToken.isEmpty == false && pages.count < 100
        return pages
    }

    @Test(arguments: [1 << 20, 64 << 10, 16 << 10])
    func `a customer comes whole, in pages that fit the frame`(frameByteCountMax: Int) throws {
        let bench = try SessionBench { $0.frameByteCountMax = frameByteCountMax }
        let ids = (100..<140).map { "2000000100000\($0)" }
        for id in ids { #expect(try bench.buy("c-ana", [id]).status == .ok) }
        let pages = try pages(bench)
        let shown = pages.flatMap(\.transactions).map(\.transactionID)
        #expect(shown == ids.reversed().map { Text($0) }, "newest first")
        #expect(pages.allSatisfy { $0.transactionsTotal == 40 })
        #expect(pages.allSatisfy { $0.customerID == "c-ana" })
        #expect(pages.first?.entitlements.map(\.productID) == ["meadow.lifetime"])
        #expect(pages.first?.entitlements.first?.names == ["plus"])
        #expect(pages.first?.identities.isEmpty == false)
        // Forty records take some 14 KB, each payload 4 KB more.
        let isRoomy = frameByteCountMax > 16 << 10
        #expect((pages.count == 1) == isRoomy)
        let record = try #require(pages.first?.transactions.first)
        let dots = record.signedPayload.bytes.count(where: { $0 == 0x2E })
        #expect(dots == (isRoomy ? 2 : 0), "records come before payloads")
        #expect(record.rawOwnership == "PURCHASED")
        #expect(record.ownership == .purchased)
        #expect(record.type == "Non-Consumable")
    }

    @Test func `nobody is not found`() throws {
        let bench = try SessionBench()
        let answer = try page(bench, "")
        #expect(answer.status == .notFound)
        #expect(answer.reason == "UNKNOWN_CUSTOMER")
    }

    @Test func `a page token that is no text is refused`() throws {
        let bench = try SessionBench()
        let answer = try page(bench, Text([0xFF]))
        #expect(answer.status == .invalidArgument)
        #expect(answer.reason == "INVALID_FIELD")
    }

    @Test func `of what was said of a customer the newest fits the frame`() throws {
        let bench = try SessionBench { $0.frameByteCountMax = 2048 }
        for index in 0..<60 {
            var link = Message.LinkCustomerRequest()
            link.customerID = "c-ana"
            link.householdID = Text("household-\(index)")
            #expect(try bench.ask(Request(id: 1, call: .linkCustomer(link))).status == .ok)
        }
        let answer = try page(bench, "")
        guard case .getCustomer(let customer) = answer.result else {
            Issue.record("\(answer)")
            return
        }
        #expect(customer.householdID == "household-59")
        #expect(customer.audit.count > 5 && customer.audit.count < 60)
        #expect(customer.audit.last?.detail.description.contains("household-59") == true)
    }
}

extension ReplyEncoderTests {
    private static func finding(_ index: Int, explanationByteCount: Int) -> AccessFinding {
        let copy = FamilyCopyView(
            customerID: "c\(index)", transactionID: "t", originalTransactionID: "o", productID: "p",
            ownership: .familyShared, reason: .active, revokedAt: 0)
        return AccessFinding(
            copy: copy, purchase: copy, confidence: .likely, grantedUntil: 0, refreshedAt: 0,
            isRefreshQueued: false,
            explanation: String(repeating: "e", count: explanationByteCount))
    }

    /// A bench whose audit has `sizes.count` findings with explanations of these sizes.
    private static func audit(
        _ sizes: [Int], frameByteCountMax: Int
    ) throws -> (bench: SessionBench, asked: Asked) {
        let bench = try SessionBench { $0.frameByteCountMax = frameByteCountMax }
        let asked = Asked()
        bench.read = { (call) throws(Refusal) in
            guard case .audit(let query) = call else {
                throw Refusal(.unknownCall, "the test knows the audit only")
            }
            asked.countMaxes.append(query.countMax)
            let start = Int(query.pageToken) ?? 0
            let end = min(sizes.count, start + query.countMax)
            return .audit(
                AuditPage(
                    findings: (start..<end).map {
                        finding($0, explanationByteCount: sizes[$0])
                    },
                    nextPageToken: end < sizes.count ? "\(end)" : "", revision: 1))
        }
        return (bench, asked)
    }

    final class Asked {
        var countMaxes: [Int] = []
    }

    @Test(
        arguments: [
            ([Int](repeating: 10, count: 1_000), 1 << 20),
            ([Int](repeating: 3_000, count: 1_000), 1 << 20),
            ([Int](repeating: 100, count: 300), 4 << 10),
            ((0..<200).map { $0 % 37 == 0 ? 15_000 : 5 }, 16 << 10),
        ])
    func `a list comes whole, in pages that fit the frame`(
        sizes: [Int], frameByteCountMax: Int
    ) throws {
        let (bench, asked) = try Self.audit(sizes, frameByteCountMax: frameByteCountMax)
        var request = Message.AuditAccessRequest()
        request.pageSize = 1_000
        var names: [Text] = []
        var pageCount = 0
        repeat {
            let response = try bench.ask(Request(id: 1, call: .auditAccess(request)))
            guard case .auditAccess(let page) = response.result else {
                Issue.record("\(response)")
                return
            }
            names += page.findings.compactMap(\.copy?.customerID)
            request.pageToken = page.nextPageToken
            pageCount += 1
        } while !request.pageToken.isEmpty && pageCount < 1_000
        #expect(names == sizes.indices.map { Text("c\($0)") })
        // Asked again a few times for each page at most, not entry by entry.
        #expect(asked.countMaxes.count <= 12 * pageCount)
    }

    @Test func `an entry that no frame can carry is refused, and said so`() throws {
        let (bench, asked) = try Self.audit([5, 20_000], frameByteCountMax: 16 << 10)
        var request = Message.AuditAccessRequest()
        let first = try bench.ask(Request(id: 1, call: .auditAccess(request)))
        guard case .auditAccess(let page) = first.result else {
            Issue.record("\(first)")
            return
        }
        #expect(page.findings.count == 1 && asked.countMaxes == [100, 1])
        request.pageToken = page.nextPageToken
        let second = try bench.ask(Request(id: 2, call: .auditAccess(request)))
        #expect(second.status == .resourceExhausted && second.reason == "OVERLOADED")
        #expect(second.message.description.contains("16384 bytes"))
    }

    @Test func `what the store refuses in mid-list is the answer`() throws {
        let bench = try SessionBench()
        bench.read = { (_) throws(Refusal) in throw Refusal(.invalidField, "page_token is none") }
        let answer = try bench.ask(Request(id: 1, call: .auditAccess(.init())))
        #expect(answer.reason == "INVALID_FIELD")
    }

    @Test func `of a rebuild's problems as many are told as fit, and how many more there are`()
        throws
    {
        let bench = try SessionBench(isAppStoreConfigured: true) { $0.frameByteCountMax = 8 << 10 }
        bench.remote = { (_) throws(Refusal) in
            .rebuild(
                RebuildReply(
                    source: .appStore, transactionCount: 1_000, changes: [], entitlements: [],
                    revision: 5,
                    problems: (0..<1_000).map { Refusal(.badSignature, "item \($0)") }))
        }
        var rebuild = Message.RebuildCustomerRequest()
        rebuild.customer = .customerID("a")
        let answer = try bench.ask(Request(id: 1, call: .rebuildCustomer(rebuild)))
        guard case .rebuildCustomer(let result) = answer.result else {
            Issue.record("\(answer)")
            return
        }
        #expect(result.revision == 5 && result.transactionsRead == 1_000)
        let count = result.problems.count
        #expect(count > 100 && count < 1_000)
        #expect(result.problems.first?.message == "item 0")
        #expect(result.problems.last?.message == Text("and \(1_000 - (count - 1)) more"))
    }
}
