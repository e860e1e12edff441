import AppStoreServerAPI
import Entitlements
import Service
import Storage
import Testing

@testable import Reconciliation

@Suite struct FetchBoardTests {
    static func board(
        _ bench: Bench
    ) -> FetchBoard { FetchBoard(desk: bench.desk) {} }

    /// Takes what was handed out, without waiting for more.
    static func drain(_ board: FetchBoard) -> [UInt64] {
        board.close()
        var numbers: [UInt64] = []
        while let queued = board.take() { numbers.append(queued.key.number) }
        return numbers
    }

    @Test func `as many are handed out as there are fetchers, in the order of the queue`() {
        let bench = Bench { $0.fetchThreadCount = 2 }
        bench.set { $0.due = (1...5).map { Bench.job($0) } }
        let board = Self.board(bench)
        _ = board.handOut(turn: 0)
        #expect(board.handOut(turn: 1) == .distantFuture)
        #expect(Self.drain(board) == [1, 2])
    }

    @Test func `nobody is fetched by two, nor again at once`() throws {
        let bench = Bench { $0.fetchThreadCount = 3 }
        bench.set { $0.due = [Bench.job(1)] }
        let board = Self.board(bench)
        _ = board.handOut(turn: 0)
        _ = board.handOut(turn: 1)
        let queued = try #require(board.take())
        board.giveBack(queued, isStored: true)
        #expect(board.handOut(turn: 2) == Bench.start.adding(milliseconds: 2_000))
        bench.advance(1_999)
        #expect(board.handOut(turn: 2) == Bench.start.adding(milliseconds: 2_000))
        bench.advance(1)
        _ = board.handOut(turn: 3)
        #expect(Self.drain(board) == [1])
    }

    @Test func `customers who rest do not hide the others`() throws {
        let bench = Bench { $0.fetchThreadCount = 1 }
        bench.set { $0.due = (1...10).map { Bench.job($0) } }
        let board = Self.board(bench)
        var order: [UInt64] = []
        for turn in 0..<10 {
            _ = board.handOut(turn: turn)
            let queued = try #require(board.take())
            order.append(queued.key.number)
            board.giveBack(queued, isStored: true)
        }
        #expect(order == Array(1...10))
    }

    @Test func `a world that is paused leaves the fetchers to the other one`() {
        let bench = Bench(environments: [.production, .sandbox]) { $0.fetchThreadCount = 2 }
        bench.set { state in
            state.due = (1...300).map { Bench.job($0) } + [Bench.job(1_000, scope: 1)]
        }
        _ = bench.desk.failed(.unauthorized("no"), Bench.production, .customers)
        let board = Self.board(bench)
        #expect(board.handOut(turn: 0) == Bench.start.adding(milliseconds: 90_000))
        #expect(Self.drain(board) == [1_000])
    }

    @Test func `worlds take turns in being first`() {
        for turn in 0..<4 {
            let bench = Bench(environments: [.production, .sandbox]) { $0.fetchThreadCount = 1 }
            bench.set { $0.due = [Bench.job(1), Bench.job(2, scope: 1)] }
            let board = Self.board(bench)
            _ = board.handOut(turn: turn)
            #expect(Self.drain(board) == [UInt64(turn % 2 + 1)])
        }
    }

    @Test func `it comes again when the next job is due`() {
        let bench = Bench()
        var later = Bench.job(1)
        later.job.notBefore = Bench.start.adding(milliseconds: 700)
        bench.set { $0.due = [later] }
        let board = Self.board(bench)
        #expect(board.handOut(turn: 0) == later.job.notBefore)
        #expect(Self.drain(board).isEmpty)
    }

    @Test func `a store that fails is tried ever more seldom, until it takes something`() throws {
        let bench = Bench { $0.fetchThreadCount = 1 }
        bench.set { $0.due = [Bench.job(1), Bench.job(2)] }
        let board = Self.board(bench)
        _ = board.handOut(turn: 0)
        var queued = try #require(board.take())
        board.giveBack(queued, isStored: false)
        let first = board.handOut(turn: 1)
        #expect(first == Bench.start.adding(milliseconds: 1_500))
        bench.set { $0.now = first }
        _ = board.handOut(turn: 2)
        queued = try #require(board.take())
        board.giveBack(queued, isStored: false)
        let second = board.handOut(turn: 3)
        #expect(second == first.adding(milliseconds: 3_000))
        bench.set { $0.now = second }
        _ = board.handOut(turn: 4)
        board.giveBack(try #require(board.take()), isStored: true)
        bench.advance(10_000)
        _ = board.handOut(turn: 5)
        #expect(Self.drain(board).count == 1)
    }

    @Test func `after the end nothing is handed out`() {
        let bench = Bench()
        bench.set { $0.due = [Bench.job(1)] }
        let board = Self.board(bench)
        board.close()
        _ = board.handOut(turn: 0)
        #expect(board.take() == nil)
    }
}
