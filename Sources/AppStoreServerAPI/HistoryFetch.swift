internal import AppStore
internal import Entitlements

/// One fetch of a customer's history: pages and statuses of every target, item by item verified.
///
/// What is no item of this world, or not believed, becomes a problem and the others stand. What
/// makes the whole incomplete is thrown; ``history`` then holds what was read before.
struct HistoryFetch {
    private let runner: RequestRunner
    private let verifier: SignedDataVerifier
    private let deadline: Timestamp
    /// What was read so far.
    private(set) var history: AppleHistory
    private var coveredChains: Set<ExactName> = []

    init(
        _ runner: RequestRunner, verifier: SignedDataVerifier, scope: Scope, deadline: Timestamp
    ) {
        self.runner = runner
        self.verifier = verifier
        self.deadline = deadline
        history = AppleHistory(scope: scope)
    }

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - targets: In the order to ask.
    ///   - wantsStatuses: Whether statuses are asked for although no page shows an auto-renewable.
    /// - Throws: what makes the whole incomplete.
    mutating func run(
        _ targets: [AppStoreServerClient.Target], wantsStatuses: Bool
    ) throws(AppStoreServerError) {
        var answered: [(id: String, place: String)] = []
        var refusal: AppStoreServerError?
        var hasSubscription = wantsStatuses
        var asked = targets
        var index = 0
        while index < asked.count {
            let target = asked[index]
            index += 1
            guard !isCovered(target) else { continue }
            let place = "id \(index) of \(asked.count)"
            let (start, itemCount) = (history.transactions.count, history.itemCount)
            do throws(AppStoreServerError) {
                try readPages(
                    .transactionHistory, of: target.id, query: [("sort", "ASCENDING")], place)
                answered.append((target.id, place))
            } catch  where error.isAboutID {
                guard history.itemCount == itemCount else {
                    throw .malformed("\(error.message), after it gave a page")
                }
                // A customer may have several accounts: one id that Apple does not know must not
                // keep the others from being read. An account that it does not know has chains.
                refusal = refusal ?? error
                note(.malformedPayload(error.message), place)
                asked += target.chains.filter { !isSame($0, target.id) }
                    .map { AppStoreServerClient.Target(id: $0, chains: [$0]) }
            }
            hasSubscription =
                hasSubscription
                || history.transactions[start...].contains { $0.transaction.type == .autoRenewable }
        }
        if answered.isEmpty, let refusal {
            // The error says it: nothing came that could be doubted.
            history.problems = []
            throw refusal
        }
        guard hasSubscription else { return }
        for target in answered {
            do throws(AppStoreServerError) {
                try readStatuses(of: target.id, target.place)
            } catch  where error.isAboutID {
                note(.malformedPayload(error.message), "statuses of \(target.place)")
            }
        }
    }

    /// Reads the refunds of one customer.
    mutating func runRefunds(of id: String) throws(AppStoreServerError) {
        try readPages(.refundHistory, of: id, query: [], "refunds")
    }

    private func isCovered(_ target: AppStoreServerClient.Target) -> Bool {
        !target.chains.isEmpty && target.chains.allSatisfy { coveredChains.contains($0) }
    }

    private mutating func note(_ error: AppStoreError, _ place: String) {
        history.problems.append(AppleHistory.Problem(error: error, place: place))
    }
}

// MARK: - Pages

extension HistoryFetch {
    /// Reads all pages of one id, each with the same filters and the revision of the page before.
    private mutating func readPages(
        _ endpoint: AppStoreEndpoint, of id: String, query: [(name: String, value: String)],
        _ place: String
    ) throws(AppStoreServerError) {
        var seen: Set<ExactName> = []
        var revision: String?
        for number in 1...max(1, runner.configuration.pageCountMax) {
            let question = try AppStoreQuestion(
                endpoint, about: id, in: history.scope,
                query: query + (revision.map { [("revision", $0)] } ?? []))
            let page = SignedPage(
                try runner.answer(to: question, deadline: deadline), list: "signedTransactions")
            for (index, item) in try page.items(of: endpoint).enumerated() {
                readTransaction(item, "\(place), page \(number), item \(index + 1)")
            }
            guard let next = try page.next("revision", of: endpoint) else { return }
            // Apple sends a changed item again under a new revision; a revision that comes again
            // would send us round in a circle for ever.
            guard seen.insert(ExactName(next)).inserted else {
                throw .malformed("\(endpoint.title): page \(number) repeats a revision")
            }
            revision = next
        }
        throw .malformed(
            "\(endpoint.title): more than \(runner.configuration.pageCountMax) pages")
    }

    private mutating func readTransaction(_ jws: [UInt8]?, _ place: String) {
        history.itemCount += 1
        do throws(AppStoreError) {
            let signed = try transaction(jws)
            history.transactions.append(signed)
            coveredChains.insert(signed.transaction.originalTransactionID)
        } catch {
            note(error, place)
        }
    }

    /// Verifies a transaction and that it is of the world that was asked about.
    private func transaction(_ jws: [UInt8]?) throws(AppStoreError) -> SignedTransaction {
        guard let jws else { throw .malformedPayload("the item is absent or no string") }
        let verified = try verifier.verifyTransaction(jws)
        guard isSame(verified.scope.bundleID, history.scope.bundleID) else {
            throw .wrongApp(
                "the item is of \(verified.scope.bundleID), asked was \(history.scope.bundleID)")
        }
        guard verified.scope.environment == history.scope.environment else {
            throw .wrongEnvironment(
                "the item is of \(verified.scope.environment.name), asked was "
                    + history.scope.environment.name)
        }
        return verified.signed
    }
}

// MARK: - Statuses

extension HistoryFetch {
    /// Reads the statuses of every chain of every group: a customer may have several of both.
    private mutating func readStatuses(
        of id: String, _ place: String
    ) throws(AppStoreServerError) {
        let endpoint = AppStoreEndpoint.subscriptionStatuses
        let answer = try runner.answer(
            to: AppStoreQuestion(endpoint, about: id, in: history.scope), deadline: deadline)
        guard let groups = answer.array("data") else {
            throw .malformed("\(endpoint.title): data is absent or no array")
        }
        for (groupIndex, value) in groups.enumerated() {
            let place = "statuses of \(place), group \(groupIndex + 1)"
            guard let group = answer.object(value), let items = group.array("lastTransactions")
            else {
                history.itemCount += 1
                note(.malformedPayload("the group has no lastTransactions"), place)
                continue
            }
            for (index, value) in items.enumerated() {
                history.itemCount += 1
                readStatus(group.object(value), "\(place), item \(index + 1)")
            }
        }
    }

    private mutating func readStatus(_ item: JSONObject?, _ place: String) {
        guard let item else { return note(.malformedPayload("the item is no object"), place) }
        let signed: SignedTransaction
        do throws(AppStoreError) {
            signed = try transaction(item.bytes("signedTransactionInfo"))
        } catch {
            // Without it neither the status nor the renewal info belongs to anything.
            return note(error, place)
        }
        history.transactions.append(signed)
        let transaction = signed.transaction
        coveredChains.insert(transaction.originalTransactionID)
        readRenewal(item, of: transaction, place)
        if let chain = item.text("originalTransactionId"),
            !isSame(chain, transaction.originalTransactionID)
        {
            return note(
                .malformedPayload("originalTransactionId is not that of the transaction"), place)
        }
        guard let status = item.integer32("status") else {
            return note(.missingClaim("status is absent or no number"), place)
        }
        history.statuses.append(
            AppleHistory.ChainStatus(
                originalTransactionID: transaction.originalTransactionID,
                transactionID: transaction.transactionID, status: status,
                signedDate: transaction.signedDate))
    }

    /// Renewal info names no app: it is taken for the chain of the transaction beside it only.
    private mutating func readRenewal(
        _ item: JSONObject, of transaction: Transaction, _ place: String
    ) {
        guard let value = item.value("signedRenewalInfo") else { return }
        do throws(AppStoreError) {
            guard let jws = item.bytes(value) else {
                throw .malformedPayload("signedRenewalInfo is no string")
            }
            let verified = try verifier.verifyRenewal(jws)
            guard verified.environment == history.scope.environment else {
                throw .wrongEnvironment(
                    "the renewal info is of \(verified.environment.name), asked was "
                        + history.scope.environment.name)
            }
            let chain = verified.signed.renewal.originalTransactionID
            guard isSame(chain, transaction.originalTransactionID) else {
                throw .renewalMismatch("the renewal info is of another chain than its transaction")
            }
            history.renewals.append(verified.signed)
        } catch {
            note(error, place)
        }
    }
}
