import Testing
import Wire

@testable import EntitledClient

@Suite struct CallTests {
    private let call = Call(request: .getServerInfo, timeout: .seconds(5), isRepeatable: true)

    @Test func `the first answer counts, before and after somebody waits`() async {
        #expect(!call.isAnswered)
        call.answer(.failure(.cancelled))
        call.answer(.failure(.closed))
        #expect(call.isAnswered)
        guard case .failure(let error) = await call.outcome() else {
            Issue.record("no failure")
            return
        }
        #expect(error == .cancelled)
        call.answer(.failure(.closed))
    }

    @Test func `an answer from another task wakes the one that waits`() async {
        let call = call
        Task {
            await Task.yield()
            call.answer(.failure(.connectionLost))
        }
        guard case .failure(let error) = await call.outcome() else {
            Issue.record("no failure")
            return
        }
        #expect(error == .connectionLost)
    }
}
