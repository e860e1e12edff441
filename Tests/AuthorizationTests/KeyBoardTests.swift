import Testing

@testable import Authorization

@Suite struct KeyBoardTests {
    @Test func `another ring is another generation`() {
        let board = KeyBoard()
        #expect(board.ring.isOpen)
        let before = board.generation
        board.replace(with: KeyRing(KeysFile(), worlds: []))
        #expect(board.generation != before)
        #expect(!board.ring.isOpen)
    }

    @Test func `connections that were ended are counted`() {
        let board = KeyBoard()
        board.countShutOut()
        board.countShutOut()
        #expect(board.shutOutCount == 2)
    }
}
