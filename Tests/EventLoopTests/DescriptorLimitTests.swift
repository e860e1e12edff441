import Testing

@testable import EventLoop

@Suite struct DescriptorLimitTests {
    @Test func `the limit is raised as far as it goes and never lowered`() {
        let before = DescriptorLimit.raise(to: 0)
        #expect(before > 0)
        let raised = DescriptorLimit.raise(to: before + 1)
        #expect(raised == before || raised == before + 1)
        #expect(DescriptorLimit.raise(to: 16) == raised)
    }
}
