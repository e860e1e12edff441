import Testing
import ToolSupport

@testable import entitlebench

@Suite struct CrashLedgerTests {
    private func withLedger(_ body: (CrashLedger, String) throws -> Void) throws {
        let directory = try ServerPlace.makeDirectory("entitlebench-test")
        defer { ServerPlace.removeDirectory(directory) }
        let plan = SeedPlan(seed: 3, customerCount: 480, transactionCounts: 1...1)
        let path = directory + "/expected.txt"
        try body(try CrashLedger(WriteEvents(plan: plan), journal: path), path)
    }

    @Test func `what is sent and what is answered is told apart, in memory and in the journal`()
        throws
    {
        try withLedger { ledger, path in
            #expect(ledger.someCustomer(0) == nil)
            #expect((0..<3).map { _ in ledger.nextEvent() } == [0, 1, 2])
            ledger.acknowledge(1, revision: 7)
            ledger.acknowledge(0, revision: 6)
            let customers = (0..<3).map { ledger.events.customer(of: $0) }
            ledger.beginLink(of: customers[0])
            #expect(ledger.revision == 7)
            #expect(ledger.acknowledgedCount == 2)
            #expect(customers.map { ledger.entries[$0]?.done } == [[0], [0], []])
            #expect(customers.map { ledger.entries[$0]?.sent } == [[0], [0], [0]])
            #expect(ledger.entries[customers[0]]?.isLinkDone == false)
            ledger.acknowledgeLink(of: customers[0], revision: 9)
            #expect(ledger.entries[customers[0]]?.isLinkDone == true)
            #expect(ledger.revision == 9)
            #expect(ledger.takeTouched() == customers.sorted())
            #expect(ledger.takeTouched() == [])
            let lines = CrashFiles.text(path).split(separator: "\n")
            #expect(lines.prefix(5) == ["sent 0", "sent 1", "sent 2", "done 1 7", "done 0 6"])
            #expect(lines.suffix(2) == ["linking \(customers[0])", "linked \(customers[0]) 9"])
        }
    }

    @Test func `records of a log are found where they begin, across blocks`() {
        func record(_ byteCount: Int, _ type: UInt8 = 1) -> [UInt8] {
            [0, 0, 0, 0, UInt8(byteCount & 0xFF), UInt8(byteCount >> 8), type]
                + [UInt8](repeating: 9, count: byteCount)
        }
        #expect(CrashRecords.starts(in: []) == [])
        #expect(CrashRecords.starts(in: record(10) + record(20) + record(0)) == [0, 17, 44])
        // FIRST up to the end of the block, LAST in the next one, then FULL.
        let first = record((32 << 10) - 7, 2)
        #expect(CrashRecords.starts(in: first + record(5, 4) + record(1)) == [0, (32 << 10) + 12])
        // Three bytes are too few for a header: filler.
        let filled = record((32 << 10) - 10) + [0, 0, 0] + record(1)
        #expect(CrashRecords.starts(in: filled) == [0, 32 << 10])
        #expect(CrashRecords.boundary(in: record(10)) == 0)
        #expect(CrashRecords.boundary(in: record(10) + record(10) + record(10)) == 34)
    }
}
