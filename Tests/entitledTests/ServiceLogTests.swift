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

    @Test func `a conversion is no warning, and says how far it is`() {
        let notice = ServiceNotice.converting(snapshotCount: 4_096, isDone: false)
        let record = LogRecord(notice)
        #expect(record.level == .info)
        #expect(record.message == notice.message)
        #expect(record.message != ServiceNotice.converting(snapshotCount: 1, isDone: true).message)
        #expect(record.fields == [.init("snapshots", 4_096)])
    }
}
