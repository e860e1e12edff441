import Testing
import Wire

@testable import entitlebench

@Suite struct GateSeedTests {
    static func answer(
        _ number: Int, granted: Bool = true, product: Text = "com.example.meadow.plus.month"
    ) -> Response {
        var answer = Message.CheckAccessResponse()
        answer.granted = granted
        answer.productID = product
        let index = number &* 7_919 % GateSeed.customerCount
        answer.transactionID = Text("\(2_000_000_000_000_000 + index)")
        return Response(id: UInt64(number) + 1, result: .checkAccess(answer))
    }

    @Test func `only the grant of the customer's own purchase is right`() {
        #expect(GateSeed.isGranted(5, Self.answer(5)))
        #expect(!GateSeed.isGranted(5, Self.answer(6)))
        #expect(!GateSeed.isGranted(5, Self.answer(5, granted: false)))
        #expect(!GateSeed.isGranted(5, Self.answer(5, product: "another")))
        #expect(!GateSeed.isGranted(5, Response(id: 6, result: nil)))
    }

    @Test func `checks ask by both kinds of names, for every customer`() {
        var (names, tokens) = (Set<Text>(), Set<Text>())
        for number in 0..<GateSeed.customerCount {
            for call in [GateSeed.check(number), GateSeed.tokenCheck(number)] {
                guard case .checkAccess(let check) = call else { continue }
                switch check.customer {
                case .customerID(let name)?: names.insert(name)
                case .appAccountToken(let token)?: tokens.insert(token)
                default: Issue.record("a check by another kind of name")
                }
            }
        }
        #expect(names.count == GateSeed.customerCount)
        #expect(tokens.count == GateSeed.customerCount)
        #expect(names.allSatisfy { $0.bytes.count == 40 })
    }

    @Test func `a notification counts only where it was new`() {
        var result = Message.IngestNotificationResponse()
        result.disposition = .applied
        #expect(GateSeed.isApplied(Response(id: 1, result: .ingestNotification(result))))
        result.disposition = .duplicate
        #expect(!GateSeed.isApplied(Response(id: 1, result: .ingestNotification(result))))
        #expect(!GateSeed.isApplied(Response(id: 1, result: nil)))
    }
}
