import Testing

@testable import ToolSupport

@Suite struct ProgressTests {
    @Test func `a bar shows what is done, how fast and how long it will take`() {
        let text = Progress.text(
            done: 25, total: 100, noun: "customers", elapsed: .seconds(5), withBar: true)
        #expect(text == "[#####               ] 25/100 customers, 5.0/s, 15 s left")
    }

    @Test func `without a total there is a rate`() {
        let text = Progress.text(
            done: 100, total: nil, noun: "answers", elapsed: .seconds(2), withBar: true)
        #expect(text == "100 answers, 50/s")
    }

    @Test func `a terminal's line is rewritten in place, and taken away`() {
        let record = ConsoleRecord()
        let progress = Progress(console: record.console(), noun: "things", isTerminal: true)
        progress.update(done: 1, total: nil)
        progress.erase()
        progress.erase()
        #expect(record.all.count == 2)
        #expect(record.all[0].hasPrefix("err:\r1 things"))
        #expect(record.all[1].hasSuffix(" \r"))
    }

    @Test func `without a terminal the first line waits`() {
        let record = ConsoleRecord()
        let progress = Progress(console: record.console(), noun: "things", isTerminal: false)
        progress.update(done: 1, total: 2)
        progress.erase()
        #expect(record.all.isEmpty)
    }
}
