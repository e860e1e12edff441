internal import EntitledClient
internal import Synchronization
internal import TestSupport
internal import ToolSupport

/// Fills a running server with a population through the calls that a backend uses: each customer's
/// transactions, signed, under his name.
struct SeedIngest: Sendable {
    /// Who is to be on the server.
    let plan: SeedPlan
    /// Signs what Apple would.
    let signer: SeedSigner
    /// How many threads sign.
    let threadCount: Int
    /// Told how many customers the server has acknowledged.
    var onProgress: @Sendable (Int) -> Void = { _ in }

    /// So many calls are in flight.
    private static let inFlightCountMax = 256
    /// So many customers are signed before they are sent: 25 MB with two transactions each.
    private static let chunkSize = 5_000

    /// What a seeding took.
    struct Outcome: Equatable, Sendable {
        /// Customers on the server.
        var customerCount = 0
        /// Signatures made.
        var signatureCount = 0
        /// Time in which nothing but signing went on, on all threads together, in nanoseconds.
        var signingNanoseconds: Int64 = 0
        /// Time from the first call to the last answer of each chunk, in nanoseconds.
        var sendingNanoseconds: Int64 = 0

        /// Signatures per second of wall time.
        var signaturesPerSecond: Double {
            Double(signatureCount) * 1e9 / Double(max(1, signingNanoseconds))
        }
        /// Customers that the server took per second of wall time, without the signing.
        var customersPerSecond: Double {
            Double(customerCount) * 1e9 / Double(max(1, sendingNanoseconds))
        }
    }

    /// Hands in `customers`; every answer must say what follows from the plan.
    ///
    /// - Throws: `CommandFailure` with the first call that failed or was answered wrongly.
    func run(
        _ customers: Range<Int>, on client: Client
    ) async throws(CommandFailure) -> Outcome {
        var outcome = Outcome()
        let clock = ContinuousClock()
        for start in stride(
            from: customers.lowerBound, to: customers.upperBound, by: Self.chunkSize)
        {
            let chunk = start..<min(start + Self.chunkSize, customers.upperBound)
            let signingStart = clock.now
            let uploads = try signed(chunk)
            let sendingStart = clock.now
            try await send(uploads, from: start, on: client)
            outcome.signingNanoseconds += (sendingStart - signingStart).nanoseconds
            outcome.sendingNanoseconds += (clock.now - sendingStart).nanoseconds
            outcome.customerCount += chunk.count
            outcome.signatureCount += uploads.reduce(0) {
                $0 + $1.signedTransactions.count + $1.signedRenewals.count
            }
            onProgress(outcome.customerCount)
        }
        return outcome
    }

    /// The calls of some customers, signed on all threads.
    func signed(_ customers: Range<Int>) throws(CommandFailure) -> [TransactionUpload] {
        let count = customers.count
        let shared = Shared(count: count)
        // Blocks of 64, so that threads do not meet at the lock for every customer.
        let blockSize = 64
        do {
            try SeedThreads.forEach(
                (count + blockSize - 1) / blockSize, threadCount: threadCount
            ) { block in
                let places = block * blockSize..<min(count, (block + 1) * blockSize)
                let uploads = try places.map { try upload(of: customers.lowerBound + $0) }
                shared.store(uploads, at: places.lowerBound)
            }
        } catch {
            throw CommandFailure(.failed, "the population cannot be signed: \(error)")
        }
        return shared.uploads
    }

    private final class Shared: Sendable {
        private let storage: Mutex<[TransactionUpload]>

        init(count: Int) {
            storage = Mutex(
                Array(repeating: TransactionUpload(customerID: ""), count: count))
        }

        var uploads: [TransactionUpload] { storage.withLock { $0 } }

        func store(_ uploads: [TransactionUpload], at start: Int) {
            storage.withLock {
                $0.replaceSubrange(start..<start + uploads.count, with: uploads)
            }
        }
    }

    /// The call that brings in all that a customer bought.
    ///
    /// - Throws: `RehearsalAuthorityError` when the library refuses.
    func upload(of index: Int) throws(RehearsalAuthorityError) -> TransactionUpload {
        var upload = TransactionUpload(customerID: plan.name(of: index))
        for transaction in plan.transactions(of: index) {
            let jws = try signer.sign(transaction)
            upload.signedTransactions.append(String(decoding: jws, as: UTF8.self))
        }
        if let renewal = plan.renewal(of: index) {
            upload.signedRenewals = [String(decoding: try signer.sign(renewal), as: UTF8.self)]
        }
        return upload
    }

    private func send(
        _ uploads: [TransactionUpload], from first: Int, on client: Client
    ) async throws(CommandFailure) {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (offset, upload) in uploads.enumerated() {
                    if offset >= Self.inFlightCountMax { try await group.next() }
                    group.addTask { try await send(upload, of: first + offset, on: client) }
                }
                try await group.waitForAll()
            }
        } catch let error as CommandFailure {
            throw error
        } catch {
            throw CommandFailure(.failed, "seeding: \(error)")
        }
    }

    private func send(
        _ upload: TransactionUpload, of index: Int, on client: Client
    ) async throws(CommandFailure) {
        let result: WriteResult
        do throws(ClientError) {
            result = try await client.ingestTransactions(upload)
        } catch {
            throw CommandFailure(.failed, "seeding customer \(index): \(error)")
        }
        let expected = plan.expectation(of: index)
        let granted = result.changes.filter(\.isGranted).map(\.customerID)
        guard granted == (expected.isGranted ? [upload.customerID] : []) else {
            throw CommandFailure(
                .failed,
                "seeding customer \(index), who is \(expected.reason): the server says that access "
                    + "began for \(granted)")
        }
    }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
