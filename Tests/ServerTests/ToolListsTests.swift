import Glibc
import Synchronization
import TestSupport
import Testing
import Wire

/// The commands of `entitlectl` that go through lists.
@Suite(
    .fewAtATime, .enabled(if: Programs.areBuilt, Comment(rawValue: Programs.absence)),
    .timeLimit(.minutes(10)))
struct ToolListsTests {
    private static let customerCount = 250

    /// A page of `u-0` ... `u-249`, a hundred at most.
    private static func page(_ call: Message.ListCustomersRequest) -> Response.Result {
        let start = Int(call.pageToken.description) ?? 0
        let end = min(
            customerCount, start + min(100, call.pageSize == 0 ? 100 : Int(call.pageSize)))
        var page = Message.ListCustomersResponse()
        page.customers = (start..<end).map { index in
            var summary = Message.CustomerSummary()
            summary.customer = .customerID(Text("u-\(index)"))
            summary.transactions = 1
            return summary
        }
        page.customersTotal = UInt64(customerCount)
        page.nextPageToken = end < customerCount ? Text("\(end)") : ""
        return .listCustomers(page)
    }

    private static func rebuilt(_ request: Request) -> Text? {
        guard case .rebuildCustomer(let call) = request.call else { return nil }
        return call.customer?.text
    }

    /// Lists customers, and answers rebuilds as `rebuild` says.
    private static func server(
        _ rebuild: @escaping @Sendable (UInt64, Message.RebuildCustomerRequest) -> Response?
    ) throws -> ScriptedServer {
        try ScriptedServer { request in
            switch request.call {
            case .listCustomers(let call): Response(id: request.id, result: page(call))
            case .rebuildCustomer(let call): rebuild(request.id, call)
            default: nil
            }
        }
    }

    private static func refusal(_ id: UInt64, _ status: Message.Status, _ reason: Text) -> Response
    {
        Response(id: id, status: status, reason: reason, message: "as the test wants it")
    }

    @Test func `all customers are rebuilt, and those who could not be are told`() async throws {
        let throttled = Atomic(false)
        let server = try Self.server { id, call in
            switch call.customer?.text {
            case "u-3": return Self.refusal(id, .internalError, "BUG")
            case "u-103": return Self.refusal(id, .notFound, "UNKNOWN_CUSTOMER")
            case "u-7" where !throttled.exchange(true, ordering: .relaxed):
                return Response(
                    id: id, status: .unavailable, reason: "APP_STORE_THROTTLED", message: "m",
                    retryAfterMilliseconds: 10)
            default:
                var result = Message.RebuildCustomerResponse()
                if call.customer?.text == "u-200" {
                    var change = Message.Change()
                    change.customerID = "u-200"
                    change.productID = "p"
                    change.grantedBefore = true
                    change.reason = .refunded
                    result.changes = [change]
                }
                return Response(id: id, result: .rebuildCustomer(result))
            }
        }
        let result = try await server.tool(
            ["rebuild", "--all", "--dry-run", "--source", "app-store"], in: TemporaryDirectory())
        #expect(result.end == .exit(1), "\(result.errorOutput)")
        #expect(result.output.contains("u-3  failed: as the test wants it (INTERNAL, BUG)"))
        #expect(result.output.contains("u-200  p  granted -> denied  REFUNDED"))
        #expect(
            result.output.contains(
                "looked at 248 of 250 customers: 1 would change, 1 failed, 1 gone meanwhile"))
        let names = server.requests.compactMap(Self.rebuilt)
        #expect(Set(names).count == 250 && names.count == 251, "one was tried twice")
        for request in server.requests {
            guard case .rebuildCustomer(let call) = request.call else { continue }
            #expect(call.dryRun && call.source == .appStore)
        }
    }

    @Test func `a program gets a line for whoever changed or failed, and the totals`() async throws
    {
        let server = try Self.server { id, call in
            call.customer?.text == "u-3"
                ? Self.refusal(id, .internalError, "BUG")
                : Response(id: id, result: .rebuildCustomer(.init()))
        }
        let result = try await server.tool(
            ["rebuild", "--all", "--output", "json", "--rate", "100000/s"],
            in: TemporaryDirectory())
        #expect(result.end == .exit(1))
        #expect(
            result.output == """
                {"customer":"u-3","changes":[],"problems":[],"refusal":{"status":"INTERNAL",\
                "reason":"BUG","message":"as the test wants it"}}
                {"total":{"customers":250,"rebuilt":249,"gone":0,"failed":1,"changes":0,\
                "problems":0,"dryRun":false,"done":true}}

                """)
    }

    @Test func `what everybody would be refused ends the work at once`() async throws {
        let server = try Self.server { id, _ in
            Self.refusal(id, .failedPrecondition, "APP_STORE_UNAUTHORIZED")
        }
        let result = try await server.tool(
            ["rebuild", "--all", "--resume", "100"], in: TemporaryDirectory())
        #expect(result.end == .exit(7))
        #expect(result.errorOutput.contains("rebuild --all --resume '100'"))
        #expect(result.errorOutput.contains("revoked"))
        #expect(server.requests.compactMap(Self.rebuilt).count <= 4)
    }

    @Test func `an interruption repeats a page at most`() async throws {
        let server = try Self.server { id, call in
            let index = Int(call.customer?.text.description.dropFirst(2) ?? "") ?? 0
            // Page two is never finished.
            return index < 150 ? Response(id: id, result: .rebuildCustomer(.init())) : nil
        }
        let run = try ProgramRun(
            Programs.tool, ["rebuild", "--all"], in: TemporaryDirectory(),
            environment: ["ENTITLECTL_ADDR": server.address])
        _ = try await eventually("the work stands still") {
            server.requests.compactMap(Self.rebuilt).contains("u-153") ? true : nil
        }
        run.send(SIGINT)
        #expect(try await run.waitForEnd() == .exit(130))
        #expect(run.errorOutput.contains("rebuild --all --resume '100'"), "\(run.errorOutput)")
    }
}

extension ToolListsTests {
    @Test func `customers are listed up to a limit, and gone on with`() async throws {
        let server = try Self.server { _, _ in nil }
        let directory = try TemporaryDirectory()
        let all = try await server.tool(["customers", "list", "--output", "json"], in: directory)
        #expect(all.output.split(separator: "\n").count == 250 && all.errorOutput.isEmpty)
        let some = try await server.tool(["customers", "list", "--limit", "120"], in: directory)
        #expect(some.output.split(separator: "\n").count == 121)
        #expect(some.output.hasPrefix("CUSTOMER"))
        #expect(some.errorOutput.contains("customers list --resume '120'"))
        let rest = try await server.tool(["customers", "list", "--resume", "120"], in: directory)
        #expect(rest.output.contains("u-120 ") && !rest.output.contains("u-119 "))
    }

    private static func copy(_ customer: Text, granted: Bool) -> Message.FamilyCopy {
        var copy = Message.FamilyCopy()
        copy.customerID = customer
        copy.productID = "meadow.lifetime"
        copy.transactionID = "1"
        copy.ownership = .familyShared
        copy.granted = granted
        copy.reason = granted ? .active : .refunded
        return copy
    }

    @Test(arguments: [0, 1])
    func `an audit names who still has access, and its exit code says so`(count: Int) async throws {
        let server = try ScriptedServer { request in
            var page = Message.AuditAccessResponse()
            page.findings = (0..<count).map { _ in
                var finding = Message.AccessFinding()
                finding.copy = Self.copy("bo", granted: true)
                finding.purchase = Self.copy("ana", granted: false)
                finding.confidence = .likely
                finding.refreshQueued = true
                finding.explanation = "his own REVOKE has not come"
                return finding
            }
            return Response(id: request.id, result: .auditAccess(page))
        }
        let directory = try TemporaryDirectory()
        let plain = try await server.tool(["audit"], in: directory)
        #expect(plain.end == .exit(0))
        #expect(plain.output.contains("bo has meadow.lifetime by 1") == (count > 0))
        #expect(plain.output.contains("his own REVOKE has not come") == (count > 0))
        let strict = try await server.tool(["audit", "--exit-code"], in: directory)
        #expect(strict.end == .exit(count > 0 ? 3 : 0))
        let json = try await server.tool(["audit", "--output", "json"], in: directory)
        #expect(json.output.split(separator: "\n").count == count)
        #expect(json.output.contains("\"confidence\":\"LIKELY\"") == (count > 0))
    }

    @Test func `a family is shown, linked and unlinked`() async throws {
        let server = try ScriptedServer { request in
            switch request.call {
            case .getFamily:
                var family = Message.GetFamilyResponse()
                family.householdID = "smiths"
                var member = Message.FamilyMember()
                member.customerID = "ana"
                member.copies = [Self.copy("ana", granted: true)]
                family.members = [member]
                var matched = Message.MatchedFamily()
                matched.confidence = .ambiguous
                matched.note = "two buyers in one millisecond"
                family.matched = [matched]
                family.warnings = ["MORE_THAN_SIX_PEOPLE"]
                return Response(id: request.id, result: .getFamily(family))
            case .linkCustomer: return Response(id: request.id, result: .linkCustomer(.init()))
            default: return nil
            }
        }
        let directory = try TemporaryDirectory()
        let shown = try await server.tool(["family", "show", "ana"], in: directory)
        #expect(shown.end == .exit(0) && shown.output.contains("smiths"))
        #expect(shown.output.contains("two buyers in one millisecond"))
        #expect(shown.output.contains("more than six people"))
        let linked = try await server.tool(
            ["family", "link", "ana", "bo", "--household", "smiths"], in: directory)
        #expect(linked.end == .exit(0) && linked.output.contains("bo shares"))
        let unlinked = try await server.tool(["family", "unlink", "bo"], in: directory)
        #expect(unlinked.output.contains("bo shares with nobody"))
        let links = server.requests.compactMap { request -> Message.LinkCustomerRequest? in
            guard case .linkCustomer(let link) = request.call else { return nil }
            return link
        }
        #expect(links.map(\.customerID) == ["ana", "bo", "bo"])
        #expect(links.map(\.householdID) == ["smiths", "smiths", ""])
        #expect(links.map(\.leaveHousehold) == [false, false, true])
        let none = try await server.tool(["family", "link", "ana", "token:x"], in: directory)
        #expect(none.end == .exit(2) && server.requests.count == 4)
    }

    @Test(arguments: [
        (Message.Confidence.likely, "most likely shared from was refunded"),
        (.declared, "The purchase that this household shares (1) was refunded"),
    ])
    func `an explanation says that access goes on though its payment went back`(
        confidence: Message.Confidence, words: String
    ) async throws {
        let server = try ScriptedServer { request in
            switch request.call {
            case .checkAccess:
                var answer = Message.CheckAccessResponse()
                answer.granted = true
                answer.reason = .active
                answer.ownership = .familyShared
                answer.transactionID = "2"
                return Response(id: request.id, result: .checkAccess(answer))
            case .getCustomer:
                var entitlement = Message.Entitlement()
                entitlement.productID = "p"
                entitlement.granted = true
                entitlement.reason = .active
                entitlement.transactionID = "2"
                entitlement.familyConfidence = confidence
                entitlement.familyTransactionID = "1"
                var customer = Message.GetCustomerResponse()
                customer.customerID = "bo"
                customer.entitlements = [entitlement]
                return Response(id: request.id, result: .getCustomer(customer))
            default: return nil
            }
        }
        let directory = try TemporaryDirectory()
        let result = try await server.tool(["explain", "bo", "p"], in: directory)
        #expect(result.output.contains("Attention") && result.output.contains(words))
        // What is said of now is not said of another instant.
        let past = try await server.tool(
            ["explain", "bo", "p", "--at", "2026-03-01"], in: directory)
        #expect(past.end == .exit(0) && !past.output.contains("Attention"))
    }

    @Test func `an explanation names what is still to come from Apple`() async throws {
        let server = try ScriptedServer { request in
            switch request.call {
            case .checkAccess:
                var answer = Message.CheckAccessResponse()
                answer.reason = .familySuspended
                answer.ownership = .familyShared
                answer.transactionID = "2"
                return Response(id: request.id, result: .checkAccess(answer))
            case .getCustomer:
                var entitlement = Message.Entitlement()
                entitlement.productID = "p"
                entitlement.reason = .familySuspended
                entitlement.transactionID = "2"
                entitlement.paymentReversed = true
                entitlement.familyConfidence = .likely
                entitlement.familyTransactionID = "1"
                var queued = Message.QueuedRefresh()
                queued.trigger = "FAMILY_REFUND"
                queued.queuedAtMilliseconds = 1_772_323_200_000
                var customer = Message.GetCustomerResponse()
                customer.customerID = "bo"
                customer.entitlements = [entitlement]
                customer.refreshedAtMilliseconds = 1_772_323_100_000
                customer.queuedRefresh = queued
                return Response(id: request.id, result: .getCustomer(customer))
            default: return nil
            }
        }
        let result = try await server.tool(["explain", "bo", "p"], in: TemporaryDirectory())
        #expect(result.end == .exit(0), "\(result.errorOutput)")
        for words in [
            "most likely shared from was refunded", "(the purchase is 1)",
            "Apple publishes no link", "is about to be fetched once more",
            "fetched whole 2026-02-28T23:58:20.000Z", "(FAMILY_REFUND)",
        ] {
            #expect(result.output.contains(words), "\(words) in \(result.output)")
        }
        let json = try await server.tool(
            ["explain", "bo", "p", "--output", "json"], in: TemporaryDirectory())
        #expect(
            json.output.contains("\"familyConfidence\":\"LIKELY\",\"familyTransactionId\":\"1\""))
        #expect(json.output.contains("\"causeCertain\":false"))
    }
}
