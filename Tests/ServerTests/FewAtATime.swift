import Testing

/// Lets few tests of all suites run at a time.
///
/// Each starts servers and tools: a hundred processes at once on two cores would make every wait a
/// matter of luck.
struct FewAtATime: SuiteTrait, TestTrait, TestScoping {
    private static let places = Places(count: 4)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        await Self.places.take()
        do {
            try await body()
        } catch {
            await Self.places.leave()
            throw error
        }
        await Self.places.leave()
    }
}

extension Trait where Self == FewAtATime {
    static var fewAtATime: FewAtATime { FewAtATime() }
}

/// Places that are taken in the order asked.
private actor Places {
    private var freeCount: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(count: Int) { freeCount = count }

    func take() async {
        if freeCount > 0 {
            freeCount -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty {
            freeCount += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
