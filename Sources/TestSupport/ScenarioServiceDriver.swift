package import Entitlements
package import Service
package import Storage

/// Plays scenarios against the service on any store, without a socket.
package struct ScenarioServiceDriver<Store: EntitlementWriter & Sendable>: ScenarioDriver {
    /// The desk that it uses.
    package let desk: ServiceDesk<Store>

    /// A driver of the service behind `desk`.
    package init(_ desk: ServiceDesk<Store>) {
        self.desk = desk
    }

    /// A fresh service with what `settings` ask for.
    ///
    /// - Throws: `ServiceStartError`.
    package init(
        settings: ScenarioSettings, authority: TestCertificateAuthority, store: Store,
        isWarm: Bool = true
    ) throws {
        let service = try EntitlementService(
            store: store,
            configuration: ServiceConfiguration(
                settings, authority: authority, clock: { Timestamp(milliseconds: 1) }))
        if isWarm { try service.warm() }
        desk = ServiceDesk(service)
    }

    package func notify(_ body: [UInt8]) throws -> ScenarioAnswer {
        answer(desk.perform(.notification(payload: body)))
    }

    package func upload(_ upload: ScenarioUpload) throws -> ScenarioAnswer {
        answer(
            desk.perform(
                .transactions(
                    TransactionUpload(
                        customerID: upload.customerID, signedTransactions: upload.transactions,
                        signedRenewals: upload.renewals,
                        signedAppTransaction: upload.appTransaction,
                        isTransfer: upload.isTransfer))))
    }

    package func link(_ link: ScenarioLink, in scope: Scope) throws -> ScenarioAnswer {
        guard let index = desk.scopeIndex(scope) else { return .refused("UNKNOWN_SCOPE") }
        return answer(
            desk.perform(
                .link(
                    LinkRequest(
                        customerID: link.customerID, identity: link.identity, scope: index,
                        isTransfer: link.isTransfer, householdID: link.householdID,
                        leavesHousehold: link.leavesHousehold))))
    }

    package func check(_ check: ScenarioCheck, in scope: Scope) throws -> ScenarioVerdict {
        guard let index = desk.scopeIndex(scope) else {
            return ScenarioVerdict(reason: "UNKNOWN_SCOPE", validUntil: 0)
        }
        let verdict = try desk.check(
            check.customer, check.subject, at: check.instant.milliseconds,
            isEntitlement: check.isEntitlement, in: index)
        return ScenarioVerdict(
            reason: verdict.reason.scenarioName, validUntil: verdict.validUntil)
    }

    package func customer(
        _ customer: CustomerReference, in scope: Scope
    ) throws -> ScenarioRecord? {
        guard let index = desk.scopeIndex(scope) else { return nil }
        do throws(Refusal) {
            let query = CustomerQuery(customer: customer, scope: index, byteCountMax: 1 << 30)
            return ScenarioRecord(try desk.service.customer(query))
        } catch {
            guard error.reason == .unknownCustomer else { throw error }
            return nil
        }
    }

    private func answer(_ result: Result<WriteReply, Refusal>) -> ScenarioAnswer {
        switch result {
        case .success(.notification(let reply)): .done(reply.disposition.scenarioName)
        case .success: .done("")
        case .failure(let refusal): .refused(refusal.reason.rawValue)
        }
    }
}

extension ServiceConfiguration {
    /// What `settings` ask for, trusting `authority`.
    package init(
        _ settings: ScenarioSettings, authority: TestCertificateAuthority,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.init(
            apps: settings.apps.map {
                AppConfiguration(
                    bundleID: $0.bundleID, appAppleID: $0.appAppleID,
                    environments: $0.environments, catalog: settings.catalog)
            },
            roots: [authority.trustedRoot], clock: clock)
    }
}

extension AccessReason {
    /// Its name on the wire, without the prefix.
    package var scenarioName: String { upperSnakeCase("\(self)") }
}

extension Disposition {
    /// Its name on the wire, without the prefix.
    package var scenarioName: String { upperSnakeCase("\(self)") }
}

/// `familyRefunded` as `FAMILY_REFUNDED`.
private func upperSnakeCase(_ name: String) -> String {
    name.reduce(into: "") { text, character in
        if character.isUppercase { text += "_" }
        text += character.uppercased()
    }
}

extension ScenarioRecord {
    /// What scenarios look at of a customer.
    init(_ view: CustomerView) {
        self.init(
            customerID: view.customerID,
            transactions: Dictionary(
                uniqueKeysWithValues: view.transactions.map {
                    ($0.transaction.transactionID, Self.values(of: $0))
                }),
            dispositions: view.notifications.map(\.disposition.scenarioName),
            entitlements: Dictionary(
                uniqueKeysWithValues: view.entitlements.map { ($0.productID, Self.values(of: $0)) })
        )
    }

    private static func values(of view: TransactionView) -> [String: String] {
        let transaction = view.transaction
        var values = [
            "original": transaction.originalTransactionID, "product": transaction.productID,
            "owner": transaction.rawOwnership, "upgraded": transaction.isUpgraded ? "yes" : "no",
            "signed": "\(transaction.signedDate.milliseconds)",
            "overridden": view.isOverridden ? "yes" : "no",
            "suspended": view.isSuspended ? "yes" : "no",
        ]
        values["from"] = transaction.purchaseDate.map { "\($0.milliseconds)" }
        values["to"] = transaction.expiresDate.map { "\($0.milliseconds)" }
        values["revoked"] = transaction.revocationDate.map { "\($0.milliseconds)" }
        values["reason"] = transaction.revocationReason.map { "\($0)" }
        values["by"] = transaction.revocationType
        values["percent"] = transaction.revocationPercentage.map { "\($0)" }
        values["token"] = transaction.appAccountToken
        values["account"] = transaction.appTransactionID
        values["web"] = transaction.webOrderLineItemID
        values["price"] = transaction.price.map { "\($0)" }
        values["currency"] = transaction.currency
        return values
    }

    private static func values(of status: EntitlementStatus) -> [String: String] {
        var values = [
            "granted": status.reason.isGranted ? "yes" : "no",
            "reason": status.reason.scenarioName, "transaction": status.transactionID,
            "reversed": status.isPaymentReversed ? "yes" : "no",
            "certain": status.isCauseCertain ? "yes" : "no",
        ]
        if status.revokedAt != 0 { values["revoked"] = "\(status.revokedAt)" }
        return values
    }
}
