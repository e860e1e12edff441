import Entitlements

/// The fields that a scenario gives a transaction or renewal info: `name=value`, `name` for yes,
/// `-name` to take one away, `json.claim=text` to write a claim digit for digit.
struct ScenarioFields: Sendable, Hashable {
    private(set) var values: [String: String] = [:]

    subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    mutating func apply(_ words: some Sequence<String>) {
        for word in words {
            if word.hasPrefix("-") {
                values[String(word.dropFirst())] = nil
            } else if let equals = word.firstIndex(of: "=") {
                values[String(word[..<equals])] = String(word[word.index(after: equals)...])
            } else {
                values[word] = "yes"
            }
        }
    }

    /// The names that are not among `known`.
    func unknown(besides known: Set<String>) -> [String] {
        values.keys.filter { !known.contains($0) && !$0.hasPrefix("json.") }.sorted()
    }

    /// The date under `name`; nil when absent.
    func date(_ name: String, _ statement: ScenarioStatement) throws(ScenarioError) -> Int64? {
        guard let text = values[name], text != "null" else { return nil }
        guard let instant = ScenarioInstant.parse(text) else {
            throw statement.fault("\(name)=\(text) is no instant")
        }
        return instant.milliseconds
    }
}

// MARK: - Transactions

extension ScenarioFields {
    static let transactionNames: Set<String> = [
        "product", "from", "to", "type", "owner", "shared", "assigned", "original", "group", "web",
        "token", "account", "revoked", "reason", "by", "percent", "upgraded", "price", "currency",
        "quantity", "signed", "like",
    ]

    /// The claims of the transaction `id` in the app of `fixtures`.
    func transactionClaims(
        _ id: String, _ fixtures: SignedFixtures, _ statement: ScenarioStatement
    ) throws(ScenarioError) -> FixtureJSON {
        if let name = unknown(besides: Self.transactionNames).first {
            throw statement.fault("a transaction has no field \(name)")
        }
        guard let product = values["product"] else {
            throw statement.fault("transaction \(id) has no product=")
        }
        guard let from = try date("from", statement) else {
            throw statement.fault("transaction \(id) has no from=")
        }
        let owner =
            values["owner"] ?? (values["shared"] != nil ? "FAMILY_SHARED" : nil)
            ?? (values["assigned"] != nil ? "ASSIGNED" : "PURCHASED")
        var claims = fixtures.transactionClaims(
            id, original: values["original"], product: product, purchased: from,
            expires: try date("to", statement), ownership: owner,
            revoked: try date("revoked", statement), signed: try date("signed", statement))
        if owner == "FAMILY_SHARED" { claims["price"] = 0 }
        if values["revoked"] == nil { claims["revocationReason"] = nil }
        try addOptional(to: &claims, statement)
        return claims
    }

    private func addOptional(
        to claims: inout FixtureJSON, _ statement: ScenarioStatement
    ) throws(ScenarioError) {
        let types = [
            "consumable": "Consumable", "non-consumable": "Non-Consumable",
            "non-renewing": "Non-Renewing Subscription",
            "auto-renewable": "Auto-Renewable Subscription",
        ]
        if let type = values["type"] { claims["type"] = .string(types[type] ?? type) }
        let texts = [
            "group": "subscriptionGroupIdentifier", "web": "webOrderLineItemId",
            "token": "appAccountToken", "account": "appTransactionId", "by": "revocationType",
            "currency": "currency",
        ]
        for (name, claim) in texts.sorted(by: { $0.key < $1.key }) {
            if let text = values[name] { claims[claim] = text == "null" ? .null : .string(text) }
        }
        let numbers = [
            "reason": "revocationReason", "percent": "revocationPercentage", "price": "price",
            "quantity": "quantity",
        ]
        for (name, claim) in numbers.sorted(by: { $0.key < $1.key }) {
            if let text = values[name] { claims[claim] = .verbatim(text) }
        }
        for (name, claim) in ["to": "expiresDate", "revoked": "revocationDate"]
        where values[name] == "null" {
            claims[claim] = .null
        }
        if let upgraded = values["upgraded"] {
            claims["isUpgraded"] = upgraded == "yes" ? true : .verbatim(upgraded)
        }
        addVerbatim(to: &claims)
    }

    func addVerbatim(to claims: inout FixtureJSON) {
        for (name, text) in values.sorted(by: { $0.key < $1.key }) where name.hasPrefix("json.") {
            claims[String(name.dropFirst("json.".count))] = .verbatim(text)
        }
    }
}

// MARK: - Renewal info

extension ScenarioFields {
    static let renewalNames: Set<String> = [
        "of", "product", "signed", "grace", "retry", "auto", "date", "next", "intent",
    ]

    /// The claims of renewal info of the chain `of`.
    func renewalClaims(
        of chain: String, product: String, signed: Int64, _ fixtures: SignedFixtures,
        _ statement: ScenarioStatement
    ) throws(ScenarioError) -> FixtureJSON {
        if let name = unknown(besides: Self.renewalNames).first {
            throw statement.fault("renewal info has no field \(name)")
        }
        let product = values["product"] ?? product
        var claims: FixtureJSON = [
            "originalTransactionId": .string(chain), "productId": .string(product),
            "autoRenewProductId": .string(values["next"] ?? product),
            "autoRenewStatus": .verbatim(values["auto"] ?? "1"), "signedDate": .integer(signed),
            "environment": .string(fixtures.environment),
        ]
        if let retry = values["retry"] {
            claims["isInBillingRetryPeriod"] = retry == "yes" ? true : .verbatim(retry)
        }
        let dates = ["grace": "gracePeriodExpiresDate", "date": "renewalDate"]
        for (name, claim) in dates.sorted(by: { $0.key < $1.key }) {
            if let date = try date(name, statement) { claims[claim] = .integer(date) }
            if values[name] == "null" { claims[claim] = .null }
        }
        if let intent = values["intent"] { claims["expirationIntent"] = .verbatim(intent) }
        addVerbatim(to: &claims)
        return claims
    }
}
