import Testing
import Wire

@testable import LoadGenerator

@Suite struct CheckTemplatesTests {
    private let population = SmallWorld.population

    /// The request by protobuf-c.
    private func reference(_ number: UInt64, _ index: Int, _ shape: Int) throws -> [UInt8] {
        let digits = String(index)
        let name =
            "customer-" + String(repeating: "0", count: 31 - digits.utf8.count) + digits
        var check = Message.CheckAccessRequest(
            customer: .customerID(Text(name)),
            subject: .product(Text(population.shapes[shape].productID)))
        check.scope = Message.Scope(bundleID: "com.example.meadow")
        return try Frames.encode(
            Request(id: 1 << 28 | number, call: .checkAccess(check)))
    }

    @Test func `a request is what the contract's own encoder writes`() throws {
        let templates = CheckTemplates(population)
        for (number, index) in [(1, 0), (2, 999), (3, 10), (70_000, 123), (4, 7)] {
            for shape in 0..<3 {
                let bytes = Array(
                    templates.request(UInt64(number), customer: UInt64(index), shape: shape))
                #expect(bytes == (try reference(UInt64(number), index, shape)))
            }
        }
    }

    @Test func `an expected answer is what the contract's own encoder writes`() throws {
        let templates = CheckTemplates(population)
        for index in [0, 1, 2, 500, 997, 998, 999] {
            let name = String(repeating: "0", count: 31 - String(index).utf8.count) + "\(index)"
            var check = Message.CheckAccessRequest(
                customer: .customerID(Text("customer-" + name)),
                subject: .product(Text(population.shapes[index % 3].productID)))
            check.scope = Message.Scope(bundleID: "com.example.meadow")
            var answer = try SmallWorld.answer(check)
            for revision in [0, 1, 127, 128, .max] as [UInt64] {
                answer.revision = revision
                let frame = try Frames.encode(
                    Response(id: 1 << 28, result: .checkAccess(answer)))
                // Prefix, id, tag and one byte of length.
                let inner = Array(frame.dropFirst(4 + 6 + 2))
                let isRight = templates.isRight(
                    inner.span, customer: UInt64(index), shape: index % 3)
                #expect(isRight)
                // All but the number of the revision, which may be any.
                let count = templates.answer(customer: UInt64(index), shape: index % 3).count
                for place in 0..<min(inner.count, count + 1) {
                    var wrong = inner
                    wrong[place] ^= 1
                    let isRight = templates.isRight(
                        wrong.span, customer: UInt64(index), shape: index % 3)
                    #expect(!isRight)
                }
                let longer = inner + [0]
                let isRightStill = templates.isRight(
                    longer.span, customer: UInt64(index), shape: index % 3)
                #expect(!isRightStill)
            }
        }
    }

    @Test func `an answer about somebody else is not right`() {
        let templates = CheckTemplates(population)
        let bytes = Array(templates.answer(customer: 3, shape: 0))
        let none: [UInt8] = []
        let right = templates.isRight(bytes.span, customer: 3, shape: 0)
        let ofAnother = templates.isRight(bytes.span, customer: 6, shape: 0)
        let nothing = templates.isRight(none.span, customer: 3, shape: 0)
        #expect(right && !ofAnother && !nothing)
    }

    @Test func `transaction ids that get longer are refused at once`() async {
        await #expect(processExitsWith: .failure) {
            var population = SmallWorld.population
            population.shapes[0].transactionIDs = .init(first: 9_999, step: 1)
            _ = CheckTemplates(population)
        }
    }
}
