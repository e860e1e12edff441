internal import HTTP

extension StandInAppStore {
    /// What Apple answers when nothing is wrong with it.
    func usualAnswer(_ route: StandInRoute, _ request: HTTPRequest) -> HTTPResponse {
        switch route.endpoint {
        case nil: HTTPResponse(status: 404)
        case .transactionHistory: history(route)
        case .subscriptionStatuses: statuses(route)
        case .transactionInfo: transactionInfo(route)
        case .refundHistory: refunds(route)
        case .appTransactionInfo: appTransactionInfo(route)
        case .notificationHistory: notificationHistory(route, request.body)
        case .testNotification: testNotification(route)
        case .testNotificationStatus: testNotificationStatus(route)
        }
    }

    private static let notFound = HTTPResponse.refusal(
        404, code: 4_040_010, "Transaction id not found.")

    /// The account that an id of any kind belongs to, in the world that is asked.
    private func account(_ route: StandInRoute) -> (id: String, state: StandInAccountState)? {
        withState { state in
            for (key, account) in state.accounts where key.environment == route.environment {
                if key.appTransactionID == route.id || account.knows(route.id) {
                    return (key.appTransactionID, account)
                }
            }
            return nil
        }
    }

    private func envelope(_ route: StandInRoute) -> FixtureJSON {
        var envelope: FixtureJSON = [
            "bundleId": .string(bundleID),
            "environment": .string(route.environment.rawValue),
        ]
        if route.environment == .production {
            envelope["appAppleId"] = .integer(appAppleID)
        }
        return envelope
    }

    private func items(_ purchases: some Sequence<StandInPurchase>) -> FixtureJSON {
        .array(
            purchases.compactMap { signed($0) }.map {
                .string(String(decoding: $0, as: UTF8.self))
            })
    }
}

// MARK: - Transactions

extension StandInAppStore {
    private func history(_ route: StandInRoute) -> HTTPResponse {
        guard let account = account(route) else { return Self.notFound }
        let filter: StandInFilter
        switch StandInFilter.reading(route) {
        case .success(let made): filter = made
        case .failure(let refusal): return .refusal(400, code: refusal.code, refusal.message)
        }
        var purchases = account.state.purchases.filter(filter.accepts)
            .sorted { $0.changeNumber < $1.changeNumber }
        if filter.isDescending { purchases.reverse() }
        // A revision says how far the caller has read in the order of changes; what was changed
        // meanwhile has a later place, and so comes again.
        if let last = filter.lastChangeNumber {
            purchases.removeAll {
                filter.isDescending ? $0.changeNumber >= last : $0.changeNumber <= last
            }
        }
        let page = purchases.prefix(Self.pageItemCount)
        var body = envelope(route)
        body["revision"] = .string(
            StandInFilter.revision(page.last?.changeNumber ?? filter.lastChangeNumber ?? 0))
        body["hasMore"] = .boolean(purchases.count > page.count)
        body["signedTransactions"] = items(page)
        return .json(body)
    }

    private func transactionInfo(_ route: StandInRoute) -> HTTPResponse {
        guard let account = account(route) else { return Self.notFound }
        guard account.id != route.id else {
            return .refusal(400, code: 4_000_048, "An appTransactionId is not supported.")
        }
        guard let index = account.state.index(of: route.id),
            let jws = signed(account.state.purchases[index])
        else { return Self.notFound }
        return .json(["signedTransactionInfo": .string(String(decoding: jws, as: UTF8.self))])
    }

    private func refunds(_ route: StandInRoute) -> HTTPResponse {
        guard let account = account(route) else { return Self.notFound }
        let refunded = account.state.purchases.filter {
            $0.claims["revocationDate"] != nil
                && $0.claims.string("inAppOwnershipType") == "PURCHASED"
        }
        .sorted {
            ($0.claims.integer("revocationDate") ?? 0) < ($1.claims.integer("revocationDate") ?? 0)
        }
        let start = route.values("revision").first.flatMap(StandInFilter.number) ?? 0
        let page = refunded.dropFirst(start).prefix(Self.pageItemCount)
        return .json([
            "revision": .string(StandInFilter.revision(start + page.count)),
            "hasMore": .boolean(refunded.count > start + page.count),
            "signedTransactions": items(page),
        ])
    }

    private func appTransactionInfo(_ route: StandInRoute) -> HTTPResponse {
        guard let account = account(route),
            let jws = sign(appTransaction(account.id, route.environment))
        else { return .refusal(404, code: 4_040_019, "No app transaction exists.") }
        return .json(["signedAppTransactionInfo": .string(String(decoding: jws, as: UTF8.self))])
    }
}

extension StandInAppStore {
    private func appTransaction(_ id: String, _ environment: StandInEnvironment) -> FixtureJSON {
        var claims: FixtureJSON = [
            "receiptType": .string(environment.rawValue), "bundleId": .string(bundleID),
            "applicationVersion": "1", "receiptCreationDate": .integer(clock()),
            "originalPurchaseDate": .integer(clock()), "originalApplicationVersion": "1",
            "appTransactionId": .string(id), "originalPlatform": "iOS",
        ]
        if environment == .production { claims["appAppleId"] = .integer(appAppleID) }
        return claims
    }
}

// MARK: - Statuses

extension StandInAppStore {
    private func statuses(_ route: StandInRoute) -> HTTPResponse {
        guard let account = account(route) else { return Self.notFound }
        let wanted = route.values("status").compactMap { Int64($0) }
        var groups: [(id: String, items: [FixtureJSON])] = []
        for newest in newestOfChains(account.state) {
            let chain = newest.claims.string("originalTransactionId") ?? ""
            let status = account.state.statuses[chain] ?? status(of: newest, account.state)
            guard wanted.isEmpty || wanted.contains(status) else { continue }
            let group = newest.claims.string("subscriptionGroupIdentifier") ?? ""
            guard let item = item(newest, status, account.state, route) else { continue }
            if let index = groups.firstIndex(where: { $0.id == group }) {
                groups[index].items.append(item)
            } else {
                groups.append((group, [item]))
            }
        }
        var body = envelope(route)
        body["data"] = .array(
            groups.map { group in
                [
                    "subscriptionGroupIdentifier": .string(group.id),
                    "lastTransactions": .array(group.items),
                ]
            })
        return .json(body)
    }

    private func newestOfChains(_ account: StandInAccountState) -> [StandInPurchase] {
        var newest: [StandInPurchase] = []
        for purchase in account.purchases
        where purchase.claims.string("type") == "Auto-Renewable Subscription" {
            let chain = purchase.claims.string("originalTransactionId")
            let date = purchase.claims.integer("purchaseDate") ?? 0
            guard
                let index = newest.firstIndex(where: {
                    $0.claims.string("originalTransactionId") == chain
                })
            else {
                newest.append(purchase)
                continue
            }
            if date >= newest[index].claims.integer("purchaseDate") ?? 0 {
                newest[index] = purchase
            }
        }
        return newest
    }

    private func status(of newest: StandInPurchase, _ account: StandInAccountState) -> Int64 {
        if newest.claims["revocationDate"] != nil { return 5 }
        return (newest.claims.integer("expiresDate") ?? 0) > clock() ? 1 : 2
    }

    private func item(
        _ purchase: StandInPurchase, _ status: Int64, _ account: StandInAccountState,
        _ route: StandInRoute
    ) -> FixtureJSON? {
        let chain = purchase.claims.string("originalTransactionId") ?? ""
        guard let transaction = signed(purchase),
            let renewal = renewal(of: purchase, chain, account, route)
        else { return nil }
        return [
            "originalTransactionId": .string(chain), "status": .integer(status),
            "signedTransactionInfo": .string(String(decoding: transaction, as: UTF8.self)),
            "signedRenewalInfo": .string(String(decoding: renewal, as: UTF8.self)),
        ]
    }

    private func renewal(
        of purchase: StandInPurchase, _ chain: String, _ account: StandInAccountState,
        _ route: StandInRoute
    ) -> [UInt8]? {
        let product = purchase.claims.string("productId") ?? ""
        var claims: FixtureJSON = [
            "originalTransactionId": .string(chain), "productId": .string(product),
            "autoRenewProductId": .string(product), "autoRenewStatus": 1,
            "renewalDate": .integer(purchase.claims.integer("expiresDate") ?? 0),
            "signedDate": .integer(clock()), "environment": .string(route.environment.rawValue),
        ]
        for change in account.renewalChanges[chain] ?? [] { claims[change.name] = change.value }
        return sign(claims)
    }
}
