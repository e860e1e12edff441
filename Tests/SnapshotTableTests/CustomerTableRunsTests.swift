import Entitlements
import SnapshotTable
import Testing

@Suite struct CustomerTableRunsTests {
    private typealias Asked = TableRuns.Asked
    private typealias Answered = TableRuns.Answered
    private let runs = TableRuns()

    @Test func `who is not there is unknown where all are there, and else nothing is said`() {
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 20, readerCount: 1)
        let reader = table.makeReader()
        let asked = [Asked(name: "bob", product: "a")]
        let complete = runs.answers(of: table, reader, asked, at: 0)
        #expect(complete == [Answered(isAnswered: true, reason: .unknownCustomer)])
        let partial = runs.answers(of: table, reader, asked, at: 0, isComplete: false)
        #expect(partial == [Answered(isAnswered: false)])
    }

    @Test func `what is not for memory, and what a meter could not note, is left to others`() {
        var generator = SeededGenerator(seed: 3)
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 20, readerCount: 1)
        let reader = table.makeReader()
        var records = generator.records(1)
        records[0].grant = Grant(type: .nonConsumable, ownership: .purchased, start: 0)
        for (name, count) in [("short", 32), ("long", 33)] {
            records[0].transactionID = String(repeating: "7", count: count)
            let snapshot = SnapshotCodec.encode(["a": records], newestSignedDate: nil)
            table.put(scope: 1, name: Array(name.utf8), snapshot: snapshot)
        }
        let found = runs.answers(
            of: table, reader,
            [
                Asked(name: "short", product: "a"), Asked(name: "long", product: "a"),
                Asked(name: "short", product: "a", isForMemory: false),
            ], at: 10)
        #expect(found.map(\.isAnswered) == [true, false, false])
        #expect(found.map(\.reason) == [.active, .unspecified, .unspecified])
        #expect(found[0].transactionID == String(repeating: "7", count: 32))
    }

    @Test func `bytes that are no snapshot of this layout are not looked into`() {
        let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 20, readerCount: 1)
        let reader = table.makeReader()
        var generator = SeededGenerator(seed: 5)
        var records = generator.records(1)
        records[0].grant = Grant(type: .nonConsumable, ownership: .purchased, start: 0)
        var snapshot = SnapshotCodec.encode(["a": records], newestSignedDate: nil)
        snapshot[8] = 2
        table.put(scope: 1, name: Array("ann".utf8), snapshot: snapshot)
        let found = runs.answers(of: table, reader, [Asked(name: "ann", product: "a")], at: 10)
        #expect(found == [Answered(isAnswered: false)])
    }

    @Test func `a look outside of a batch of reads traps`() async {
        await #expect(processExitsWith: .failure) {
            let table = CustomerTable(customerCount: 0, byteCountMax: 1 << 20, readerCount: 1)
            let reader = table.makeReader()
            let questions = [ProductQuestion()]
            var verdicts = [ProductVerdict()]
            var places = verdicts.mutableSpan
            table.decide(
                questions.span, 0..<1, in: Span(), at: 0, isComplete: true,
                under: CompiledCatalog([]), reader: reader, into: &places)
        }
    }
}
