import Service
import Testing

@testable import entitled

struct ServiceLogTests {
    @Test func `a refusal is logged by its reason, so that repeats are counted by it`() {
        let record = LogRecord(.refused(Refusal(.badSignature, "why")))
        #expect(record.level == .warn)
        #expect(record.message == "refused: BAD_SIGNATURE")
        #expect(record.fields == [.init("detail", "why")])
    }

    @Test(
        arguments: [
            (ServiceNotice.unknownNotification(type: "NEW", subtype: "S"), ["NEW", "S"]),
            (.missingDuration(productID: "p"), ["p"]),
            (.incompleteTransaction(transactionID: "1", productID: "p"), ["1", "p"]),
        ])
    func `a notice names what it is about`(notice: ServiceNotice, values: [String]) {
        let record = LogRecord(notice)
        #expect(record.message == notice.message)
        #expect(record.fields.map(\.value) == values.map { .text($0) })
    }
}
