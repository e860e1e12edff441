import Testing

@testable import entitled

@Suite struct ProcessFactsTests {
    private let stat =
        "4711 (a) (b)) S 1 2 3 4 5 6 7 8 9 10 250 50 13 14 20 0 9 0 1000 8192000 100 "
        + "18446744073709551615"

    @Test func `times and sizes are read behind a name of any form`() {
        let facts = ProcessFacts(
            stat: stat, systemStat: "cpu 1 2\nbtime 1700000000\nprocesses 9\n", descriptorCount: 7)
        #expect(facts.cpuSeconds == 3)
        #expect(facts.virtualByteCount == 8_192_000)
        #expect(facts.residentByteCount == 409_600)
        #expect(facts.startSeconds == 1_700_000_010)
        #expect(facts.openDescriptorCount == 7)
    }

    @Test(arguments: [nil, "", "4711 (a", "4711 (a) S", "4711 (a) S x y z"])
    func `what cannot be read is zero`(stat: String?) {
        let facts = ProcessFacts(stat: stat, systemStat: nil, descriptorCount: 0)
        #expect(facts == ProcessFacts(stat: nil, systemStat: nil, descriptorCount: 0))
    }

    @Test(.enabled(if: SystemCalls.fileExists("/proc/self/stat")))
    func `this process has begun, and takes memory`() {
        let facts = ProcessFacts.current
        #expect(facts.residentByteCount > 1 << 20)
        #expect(facts.startSeconds > 1_700_000_000)
        #expect(facts.openDescriptorCount > 2)
    }
}
