import Entitlements

// The statements that ask.

extension ScenarioBuilder {
    /// `INSTANT CUSTOMER SUBJECT -> REASON [until INSTANT|never]`; `~` is the instant before.
    mutating func check(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        let words = statement.parts[0]
        guard words.count == 3 else { throw statement.fault("\(statement.verb) is no statement") }
        let instant = words[0] == "~" ? lastInstant : ScenarioInstant.parse(words[0])
        guard let instant else { throw statement.fault("\(words[0]) is no instant") }
        lastInstant = instant
        let prefix = "name:"
        let isEntitlement = words[2].hasPrefix(prefix)
        let check = ScenarioCheck(
            customer: reference(words[1]),
            subject: isEntitlement ? String(words[2].dropFirst(prefix.count)) : words[2],
            isEntitlement: isEntitlement, instant: instant)
        let expected = statement.expected
        guard expected.count == 1 || expected.count == 3 && expected[1] == "until" else {
            throw statement.fault("-> REASON [until INSTANT|never]")
        }
        var validUntil: Int64?
        if expected.count == 3 {
            validUntil = expected[2] == "never" ? 0 : try milliseconds(expected[2], statement)
        }
        return made(statement, .check(check, reason: expected[0], validUntil: validUntil))
    }

    /// `history CUSTOMER [transactions=N] [notifications=N] [name=TEXT]`
    func history(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        var fields = ScenarioFields()
        fields.apply(statement.arguments.dropFirst())
        guard let customer = statement.arguments.first,
            fields.unknown(besides: ["transactions", "notifications", "name"]).isEmpty
        else { throw statement.fault("history CUSTOMER [transactions=N] [notifications=N]") }
        return made(
            statement,
            .history(
                reference(customer), transactionCount: fields["transactions"].flatMap { Int($0) },
                notificationCount: fields["notifications"].flatMap { Int($0) },
                name: fields["name"]))
    }

    /// `stored CUSTOMER TRANSACTION name=value...`; an empty value: absent.
    func stored(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        let words = statement.arguments
        guard words.count >= 3 else {
            throw statement.fault("stored CUSTOMER TRANSACTION name=value...")
        }
        let values = try values(words.dropFirst(2), statement)
        return made(
            statement, .stored(reference(words[0]), transactionID: words[1], values: values))
    }

    /// `entitlement CUSTOMER PRODUCT name=value...`
    func entitlement(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        let words = statement.arguments
        guard words.count >= 3 else {
            throw statement.fault("entitlement CUSTOMER PRODUCT name=value...")
        }
        let values = try values(words.dropFirst(2), statement)
        return made(
            statement, .entitlement(reference(words[0]), productID: words[1], values: values))
    }

    private func values(
        _ words: some Sequence<String>, _ statement: ScenarioStatement
    ) throws(ScenarioError) -> [String: String] {
        var fields = ScenarioFields()
        fields.apply(words)
        var values = fields.values
        for name in ["from", "to", "revoked", "signed"] {
            guard let text = values[name], !text.isEmpty else { continue }
            values[name] = "\(try milliseconds(text, statement))"
        }
        return values
    }

    private func milliseconds(
        _ text: String, _ statement: ScenarioStatement
    ) throws(ScenarioError) -> Int64 {
        guard let instant = ScenarioInstant.parse(text) else {
            throw statement.fault("\(text) is no instant")
        }
        return instant.milliseconds
    }

    /// `NAME`, or one of Apple's names: `token:…`, `account:…`, `original:…`.
    private func reference(_ text: String) -> CustomerReference {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return .customer(text) }
        switch parts[0] {
        case "token": return .appAccountToken(parts[1])
        case "account": return .appTransaction(parts[1])
        case "original": return .originalTransaction(parts[1])
        default: return .customer(text)
        }
    }
}
