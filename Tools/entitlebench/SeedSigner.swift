internal import EventLoop
internal import Synchronization
internal import TestSupport

/// Signs what Apple would sign for the population; any thread.
///
/// The header with its three certificates is encoded once; what is left is the claims, base64 and
/// the signature. `seed` prints how many a machine makes per second.
struct SeedSigner: Sendable {
    /// The app whose data it is.
    let app: SeedApp
    /// Whose root the server trusts.
    let authority: RehearsalAuthority

    /// A signed copy of a transaction: a compact JWS.
    ///
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    func sign(_ transaction: SeedTransaction) throws(RehearsalAuthorityError) -> [UInt8] {
        try authority.sign(payload: SeedClaims.transaction(transaction, of: app))
    }

    /// Signed renewal info: a compact JWS.
    ///
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    func sign(_ renewal: SeedRenewal) throws(RehearsalAuthorityError) -> [UInt8] {
        try authority.sign(payload: SeedClaims.renewal(renewal))
    }

    /// The body that Apple POSTs: a signed notification with what is signed in it.
    ///
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    func body(
        _ event: SeedNotification, _ transaction: SeedTransaction, _ renewal: SeedRenewal?
    ) throws(RehearsalAuthorityError) -> [UInt8] {
        let signedTransaction = try sign(transaction)
        var signedRenewal: [UInt8]?
        if let renewal { signedRenewal = try sign(renewal) }
        let claims = SeedClaims.notification(
            event, transaction: signedTransaction, renewal: signedRenewal, of: app)
        return Array("{\"signedPayload\":\"".utf8) + (try authority.sign(payload: claims))
            + Array("\"}".utf8)
    }
}

/// Runs a numbered piece of work on several threads.
enum SeedThreads {
    /// Calls `body` once for each of `0 ..< count`, in ascending order of starts, on `threadCount`
    /// threads, and waits for all; the first error ends it early.
    ///
    /// - Throws: what `body` threw first, or `UVError` when no thread could be started.
    static func forEach(
        _ count: Int, threadCount: Int, _ body: @escaping @Sendable (Int) throws -> Void
    ) throws {
        let state = SharedState()
        let work: @Sendable () -> Void = {
            while !state.hasFailed {
                let index = state.next.add(1, ordering: .relaxed).oldValue
                guard index < count else { return }
                do { try body(index) } catch { state.fail(error) }
            }
        }
        var threads: [Thread] = []
        defer { for thread in threads { thread.join() } }
        for number in 0..<min(threadCount, count) {
            threads.append(try Thread(name: "seed-\(number)", work))
        }
        for thread in threads { thread.join() }
        if let error = state.error { throw error }
    }

    private final class SharedState: Sendable {
        let next = Atomic<Int>(0)
        private let failure = Mutex<(any Error)?>(nil)

        var error: (any Error)? { failure.withLock { $0 } }
        var hasFailed: Bool { error != nil }

        func fail(_ error: any Error) { failure.withLock { $0 = $0 ?? error } }
    }
}
