import AppStore
import Entitlements

extension EntitlementService {
    /// Verifies and completes a call; the event that comes out is what the ledger applies.
    ///
    /// Worker threads: a signature costs about 90 microseconds, a chain not seen before 2.8 ms.
    ///
    /// - Throws: what is wrong with it; nothing was stored.
    package func prepare(_ call: WriteCall) throws(Refusal) -> Event {
        do throws(Refusal) {
            return event(try content(of: call, by: verifier))
        } catch {
            throw counted(error, of: call)
        }
    }

    /// As `prepare`, but checks no chain of certificates that was not checked before: whoever
    /// sends such chains costs the caller microseconds.
    ///
    /// - Returns: nil when there is one; call `prepare` where 3 ms do not matter.
    /// - Throws: what is wrong with it apart from that; nothing was stored.
    package func prepareWithKnownChains(_ call: WriteCall) throws(Refusal) -> Event? {
        do throws(Refusal) {
            return event(try content(of: call, by: quickVerifier))
        } catch {
            // The quick one says so of chains that it did not look at, and of no others.
            guard error.reason != .untrustedChain else { return nil }
            throw counted(error, of: call)
        }
    }

    private func counted(_ refusal: Refusal, of call: WriteCall) -> Refusal {
        counters.count(refusal.reason)
        commitTally.countRefused(call, refusal.reason)
        configuration.onNotice(.refused(refusal))
        return refusal
    }

    /// Completes what is to be applied, and tells the operator what is odd about it.
    func event(_ content: Event.Content) -> Event {
        let catalog = content.scope.map { catalogTable.catalog(of: $0) } ?? Catalog()
        for transaction in content.transactions {
            let notice = ServiceNotice(transaction, catalog: catalog)
            if let notice { configuration.onNotice(notice) }
        }
        return Event(receivedAt: configuration.clock(), content: content)
    }

    private func content(
        of call: WriteCall, by verifier: SignedDataVerifier
    ) throws(Refusal) -> Event.Content {
        switch call {
        case .notification(let payload): try notification(payload, by: verifier)
        case .transactions(let upload): .upload(try verify(upload, by: verifier))
        case .link(let request): .link(try validate(request))
        case .rebuild(let request): .rebuild(rehearsed(try validate(request)))
        case .importing(let request): .importing(try verify(request, by: verifier))
        case .forget(let request): .forget(traced(request))
        }
    }

    private func notification(
        _ payload: [UInt8], by verifier: SignedDataVerifier
    ) throws(Refusal) -> Event.Content {
        let start = ContinuousClock.now
        let verified = try verifying { () throws(AppStoreError) in
            try verifier.verifyNotification(payload)
        }
        timings.verifications.observe(since: start)
        switch verified {
        case .signed(let signed):
            return .notification(signed.notification, payload: payload)
        case .unsigned(let body):
            return .notification(try hint(body), payload: payload)
        }
    }

    /// A V1 body as a notification without facts: it is stored and counted, and at most it has
    /// Apple asked about the chains that it names.
    private func hint(_ body: V1Notification) throws(Refusal) -> Notification {
        guard let secret = configuration.v1SharedSecret, body.isAuthenticated(by: secret) else {
            throw Refusal(
                .v1Unauthenticated,
                "the body is a V1 notification whose password is not the configured shared secret")
        }
        let scope = try verifying { () throws(AppStoreError) in try verifier.scope(of: body) }
        var notification = Notification(
            notificationUUID: "v1-\(body.digest)", type: body.type, subtype: "",
            signedDate: configuration.clock(), scope: scope)
        notification.isUnsigned = true
        notification.hintedChains = Array(
            body.originalTransactionIDs.prefix(Self.hintedChainCountMax))
        return notification
    }

    /// Apple's receipts hold at most 100 transactions, and as many chains of pending renewals.
    private static var hintedChainCountMax: Int { 200 }

    private func verify(
        _ upload: TransactionUpload, by verifier: SignedDataVerifier
    ) throws(Refusal) -> Event.Upload {
        var scopes: Set<Scope> = []
        var transactions: [SignedTransaction] = []
        for jws in upload.signedTransactions {
            let verified = try verifying { () throws(AppStoreError) in
                try verifier.verifyTransaction(jws)
            }
            scopes.insert(verified.scope)
            transactions.append(verified.signed)
        }
        var appTransactionID: String?
        if !upload.signedAppTransaction.isEmpty {
            let verified = try verifying { () throws(AppStoreError) in
                try verifier.verifyAppTransaction(upload.signedAppTransaction)
            }
            guard let id = verified.appTransactionID else {
                throw Refusal(
                    .missingClaim, "the app transaction has no appTransactionId to link")
            }
            scopes.insert(verified.scope)
            appTransactionID = id
        }
        let renewals = try verifyRenewals(
            upload.signedRenewals, of: &scopes, by: verifier)
        guard let scope = scopes.first else {
            throw Refusal(.invalidField, "the upload holds nothing signed")
        }
        guard scopes.count == 1 else {
            throw Refusal(.mixedScope, "the upload holds data of more than one app or environment")
        }
        return Event.Upload(
            scope: scope, customerID: upload.customerID, transactions: transactions,
            renewals: renewals, appTransactionID: appTransactionID, isTransfer: upload.isTransfer,
            transfersOnConflict: configuration.identityConflict == .transfer)
    }

    /// Renewal info names no app: it takes the scope of what came with it, or of the only app.
    private func verifyRenewals(
        _ payloads: [[UInt8]], of scopes: inout Set<Scope>, by verifier: SignedDataVerifier
    ) throws(Refusal) -> [SignedRenewal] {
        var renewals: [SignedRenewal] = []
        for jws in payloads {
            let verified = try verifying { () throws(AppStoreError) in
                try verifier.verifyRenewal(jws)
            }
            if let scope = scopes.first {
                guard scope.environment == verified.environment else {
                    throw Refusal(
                        .mixedScope, "renewal info of another environment than what came with it")
                }
            } else if configuration.apps.count == 1 {
                scopes.insert(
                    Scope(
                        bundleID: configuration.apps[0].bundleID,
                        environment: verified.environment))
            } else {
                throw Refusal(
                    .renewalMismatch,
                    "renewal info names no app: hand it in with a transaction of its chain")
            }
            renewals.append(verified.signed)
        }
        return renewals
    }

    private func validate(_ request: LinkRequest) throws(Refusal) -> Event.Link {
        guard !request.customerID.isEmpty else {
            throw Refusal(.invalidIdentifier, "customer_id is missing")
        }
        if case .customer = request.identity {
            throw Refusal(
                .invalidField, "identity is one of Apple's, not another customer_id")
        }
        guard !(request.leavesHousehold && !request.householdID.isEmpty) else {
            throw Refusal(.invalidField, "household_id and leave_household exclude one another")
        }
        let household: String? =
            request.leavesHousehold ? "" : request.householdID.isEmpty ? nil : request.householdID
        guard request.identity != nil || household != nil else {
            throw Refusal(.invalidField, "neither an identity nor a household is said")
        }
        return Event.Link(
            scope: world(request.scope).scope, customerID: request.customerID,
            identity: request.identity.map { Identity($0) }, isTransfer: request.isTransfer,
            transfersOnConflict: configuration.identityConflict == .transfer,
            household: household)
    }

    private func validate(_ request: RebuildRequest) throws(Refusal) -> Event.Rebuild {
        // With credentials, whoever asks Apple applies the answer by an event of its own.
        guard request.source != .appStore else {
            throw Refusal(
                .appStoreNotConfigured,
                "no App Store Server API credentials are configured; ask for STORED_FACTS")
        }
        return Event.Rebuild(
            scope: world(request.scope).scope, identity: Identity(request.customer),
            isDryRun: request.isDryRun)
    }

    /// Runs a verification; what it throws becomes a refusal.
    func verifying<Value>(
        _ body: () throws(AppStoreError) -> Value
    ) throws(Refusal) -> Value {
        do throws(AppStoreError) {
            return try body()
        } catch {
            throw Refusal(error)
        }
    }
}
