import Entitlements
import SnapshotTable
import Testing

@Suite struct ProductQuestionTests {
    @Test func `a question of nothing is for nobody, and nothing is said to it`() {
        #expect(!ProductQuestion().isForMemory)
        let verdict = ProductVerdict()
        #expect(!verdict.isAnswered && verdict.reason == .unspecified)
        let ids = (verdict.transactionID.count, verdict.originalTransactionID.count)
        #expect(ids == (0, 0))
    }

    @Test func `a question and what is said to it take a line of memory each`() {
        #expect(MemoryLayout<ProductQuestion>.stride <= 64)
        #expect(MemoryLayout<ProductVerdict>.stride <= 64)
    }
}
