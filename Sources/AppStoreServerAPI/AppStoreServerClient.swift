package import AppStore
package import Entitlements

/// Asks the App Store Server API.
///
/// Blocking: every call may wait for the network, for a budget and between repeats, up to its
/// deadline. Any thread, several at once, but never an event loop and never the commit thread.
/// Nothing here grants: what comes back is verified item by item, or said not to be.
///
/// See: https://developer.apple.com/documentation/appstoreserverapi
package final class AppStoreServerClient: Sendable {
    /// An id to ask for, and the chains that its answer should cover.
    package struct Target: Hashable, Sendable {
        /// An appTransactionId or a transactionId.
        package var id: String
        /// Chains; a target whose chains earlier answers covered is not asked for.
        package var chains: [String]

        /// A target.
        package init(id: String, chains: [String]) {
            self.id = id
            self.chains = chains
        }
    }

    let runner: RequestRunner
    let verifier: SignedDataVerifier
    private let sandboxApps: Set<ExactName>

    /// A client; asks nothing yet.
    ///
    /// - Parameters:
    ///   - key: Signs the tokens, for all apps.
    ///   - apps: The configured apps; Sandbox is asked only for those that have it.
    ///   - verifier: Decides which items are believed.
    ///   - configuration: Hosts and limits.
    ///   - surroundings: Network, clock and sleep.
    ///   - onRequest: Called after every request, on the thread that asked.
    package init(
        key: APIKey, apps: [TrustedApp], verifier: SignedDataVerifier,
        configuration: AppStoreServerConfiguration, surroundings: AppStoreServerSurroundings,
        onRequest: @escaping @Sendable (RequestRecord) -> Void = { _ in }
    ) {
        self.verifier = verifier
        sandboxApps = Set(
            apps.filter { $0.environments.contains(.sandbox) }.map { ExactName($0.bundleID) })
        runner = RequestRunner(
            tokens: TokenStore(key: key),
            budget: RateBudget(historyRatePerSecond: configuration.historyRatePerSecond),
            configuration: configuration, surroundings: surroundings, onRequest: onRequest)
    }

    /// Signs with another key from now on: an operator has replaced the old one. Any thread.
    package func use(_ key: APIKey) { runner.tokens.use(key) }

    /// Fetches the whole history of a customer, page by page, and his subscription statuses.
    ///
    /// An id that Apple does not know is a problem beside what the others brought, and an error
    /// where no id is known.
    ///
    /// - Parameters:
    ///   - targets: In the order to ask.
    ///   - scope: The app and environment.
    ///   - wantsStatuses: Whether Get All Subscription Statuses is asked too; it is also asked when
    ///     a page shows an auto-renewable.
    ///   - deadline: By the wall clock; a wait that would pass it is not begun.
    /// - Returns: The copies in Apple's order; one id may come twice.
    /// - Throws: `HistoryFailure` with what had been read.
    package func history(
        of targets: [Target], in scope: Scope, wantsStatuses: Bool, deadline: Timestamp
    ) throws(HistoryFailure) -> AppleHistory {
        var fetch = HistoryFetch(runner, verifier: verifier, scope: scope, deadline: deadline)
        do throws(AppStoreServerError) {
            try fetch.run(targets, wantsStatuses: wantsStatuses)
            return fetch.history
        } catch {
            throw HistoryFailure(
                error: withWhereabouts(
                    error, of: targets.first?.id ?? "", in: scope, deadline: deadline),
                partial: fetch.history)
        }
    }

    /// Fetches the refunds of a customer: App Store refunds, not what left a family.
    ///
    /// - Parameters:
    ///   - id: A transactionId of the customer.
    ///   - scope: The app and environment.
    ///   - deadline: By the wall clock.
    /// - Returns: The refunded transactions, oldest refund first.
    /// - Throws: `HistoryFailure` with what had been read.
    package func refunds(
        of id: String, in scope: Scope, deadline: Timestamp
    ) throws(HistoryFailure) -> AppleHistory {
        var fetch = HistoryFetch(runner, verifier: verifier, scope: scope, deadline: deadline)
        do throws(AppStoreServerError) {
            try fetch.runRefunds(of: id)
            return fetch.history
        } catch {
            throw HistoryFailure(
                error: withWhereabouts(error, of: id, in: scope, deadline: deadline),
                partial: fetch.history)
        }
    }
}

// MARK: - Production or Sandbox

extension AppStoreServerClient {
    /// In which environment Apple knows an id: Production is asked first, and Sandbox only where
    /// Production answers 4040010 and the app has Sandbox.
    ///
    /// - Returns: nil when it is known in neither.
    ///
    /// See: https://developer.apple.com/documentation/appstoreserverapi
    package func locate(
        _ id: String, bundleID: String, deadline: Timestamp
    ) throws(AppStoreServerError) -> Scope? {
        let production = Scope(bundleID: bundleID, environment: .production)
        if try isKnown(id, in: production, deadline: deadline) { return production }
        guard sandboxApps.contains(bundleID) else { return nil }
        let sandbox = Scope(bundleID: bundleID, environment: .sandbox)
        return try isKnown(id, in: sandbox, deadline: deadline) ? sandbox : nil
    }

    private func isKnown(
        _ id: String, in scope: Scope, deadline: Timestamp
    ) throws(AppStoreServerError) -> Bool {
        do throws(AppStoreServerError) {
            let question = try AppStoreQuestion(
                .transactionHistory, about: id, in: scope, query: [("sort", "ASCENDING")])
            _ = try runner.answer(to: question, deadline: deadline)
            return true
        } catch {
            guard case .notFound(ErrorCode.transactionIDNotFound, _) = error else { throw error }
            return false
        }
    }

    /// The error, with a word on whether Sandbox knows the id that Production does not. The two
    /// worlds stay apart: nothing of Sandbox is taken.
    private func withWhereabouts(
        _ error: AppStoreServerError, of id: String, in scope: Scope, deadline: Timestamp
    ) -> AppStoreServerError {
        guard case .notFound(let code, let message) = error,
            code == ErrorCode.transactionIDNotFound, scope.environment == .production,
            sandboxApps.contains(scope.bundleID)
        else { return error }
        let sandbox = Scope(bundleID: scope.bundleID, environment: .sandbox)
        guard (try? isKnown(id, in: sandbox, deadline: deadline)) == true else { return error }
        return .notFound(
            code: code,
            message: message + "; found in Sandbox: a purchase of TestFlight or of a sandbox "
                + "account, which counts in the Sandbox scope only")
    }
}
