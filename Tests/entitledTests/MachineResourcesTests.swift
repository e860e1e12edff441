import Testing

@testable import entitled

@Suite struct MachineResourcesTests {
    @Test(
        arguments: [
            ([:], 8, 1_000),
            (["cpu.max": "max 100000\n", "memory.max": "max\n"], 8, 1_000),
            (["cpu.max": "150000 100000\n", "memory.max": "600\n"], 2, 600),
            (["cpu.max": "100000 100000\n", "memory.max": "2000\n"], 1, 1_000),
            (["cpu.max": "1 100000", "memory/memory.limit_in_bytes": "500"], 1, 500),
            (["cpu.max": "9900000 100000"], 8, 1_000),
            (["cpu.max": "nonsense", "memory.max": "-5"], 8, 1_000),
            (["cpu.max": "100 0", "memory.max": "0"], 8, 1_000),
            (["memory/memory.limit_in_bytes": "9223372036854771712"], 8, 1_000),
        ] as [([String: String], Int, Int64)])
    func `a control group's limits count when they are lower`(
        files: [String: String], processors: Int, memory: Int64
    ) {
        let resources = MachineResources(
            processorCount: 8, physicalMemoryByteCount: 1_000,
            readFile: { files[String($0.dropFirst("/sys/fs/cgroup/".count))] })
        #expect(resources.processorCount == processors)
        #expect(resources.memoryByteCount == memory)
    }

    @Test func `there is at least one processor`() {
        let resources = MachineResources(
            processorCount: 0, physicalMemoryByteCount: .max, readFile: { _ in nil })
        #expect(resources.processorCount == 1)
        #expect(resources.memoryByteCount == .max)
    }
}
