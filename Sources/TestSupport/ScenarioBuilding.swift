import Entitlements

// The statements that do something, and those that ask.

extension ScenarioBuilder {
    /// The fields of the transaction that `part` names, with its changes applied and remembered.
    mutating func transaction(
        _ part: [String], _ statement: ScenarioStatement
    ) throws(ScenarioError) -> FixtureJSON {
        guard let id = part.first else { throw statement.fault("an empty part") }
        let key = "\(scope.bundleID) \(environmentName) \(id)"
        var fields = transactions[key] ?? ScenarioFields()
        fields["signed"] = nil
        var changes = ScenarioFields()
        changes.apply(part.dropFirst())
        if let model = changes["like"] {
            let modelKey = "\(scope.bundleID) \(environmentName) \(model)"
            guard let known = transactions[modelKey] else {
                throw statement.fault("like=\(model) names no transaction so far")
            }
            for name in ["product", "from", "to", "type", "group"] { fields[name] = known[name] }
        }
        fields.apply(part.dropFirst())
        transactions[key] = fields
        return try fields.transactionClaims(id, fixtures, statement)
    }

    /// Signed transactions and renewals of the parts after the first.
    private mutating func signedParts(
        _ statement: ScenarioStatement, forged: String?
    ) throws(ScenarioError) -> SignedParts {
        var signed = SignedParts()
        var chain: FixtureJSON?
        for part in statement.parts.dropFirst() {
            guard part.first == "renewal" else {
                let claims = try transaction(part, statement)
                chain = claims
                signed.transactions.append(try sign(claims, forged, statement))
                signed.note(claims)
                continue
            }
            var fields = ScenarioFields()
            fields.apply(part.dropFirst())
            guard let of = fields["of"] ?? chain?.string("originalTransactionId") else {
                throw statement.fault("renewal needs of= or a transaction before it")
            }
            let date = try fields.date("signed", statement) ?? signed.newestDate + 1_000
            let claims = try fields.renewalClaims(
                of: of, product: chain?.string("productId") ?? "", signed: date, fixtures,
                statement)
            signed.renewals.append(try sign(claims, forged, statement))
            signed.note(claims)
        }
        return signed
    }

    mutating func notify(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        var fields = ScenarioFields()
        fields.apply(statement.arguments.dropFirst())
        let known: Set = ["uuid", "as", "sent", "status", "part", "forged", "inner"]
        guard let kind = statement.arguments.first, fields.unknown(besides: known).isEmpty else {
            throw statement.fault(
                "notify TYPE[/SUBTYPE] [\(known.sorted().joined(separator: "="))]")
        }
        let signed = try signedParts(statement, forged: fields["inner"])
        guard signed.transactions.count <= 1, signed.renewals.count <= 1 else {
            throw statement.fault("a notification carries one transaction and one renewal info")
        }
        notificationCount += 1
        let names = kind.split(separator: "/", maxSplits: 1).map(String.init)
        let sent = try fields.date("sent", statement) ?? signed.newestDate + 1_000
        var claims: FixtureJSON = [
            "notificationType": .string(names[0]), "version": "2.0",
            "notificationUUID": .string(fields["uuid"] ?? "uuid-\(notificationCount)"),
            "signedDate": .integer(sent),
        ]
        if names.count == 2 { claims["subtype"] = .string(names[1]) }
        if fields["uuid"] == "null" { claims["notificationUUID"] = nil }
        add(fields["part"] ?? "data", signed, status: fields["status"], to: &claims)
        fields.addVerbatim(to: &claims)
        let body = SignedFixtures.body(try sign(claims, fields["forged"], statement))
        if let label = fields["as"] { labelled[label] = body }
        return made(statement, .notify(body, expected: try answer(statement)))
    }

    private func add(
        _ part: String, _ signed: SignedParts, status: String?, to claims: inout FixtureJSON
    ) {
        let fixtures = fixtures
        var data = fixtures.notificationData(
            transaction: signed.transactions.first, renewal: signed.renewals.first,
            status: status.flatMap { Int64($0) })
        switch part {
        case "summary":
            data["bundleVersion"] = nil
            data["requestIdentifier"] = "request-1"
            data["productId"] = "meadow.plus.month"
            data["succeededCount"] = 5
            data["failedCount"] = 0
            claims["summary"] = data
        case "token":
            claims["externalPurchaseToken"] = [
                "externalPurchaseId": "b2158121-7af9-49d4-9561-1f588205523e",
                "tokenCreationDate": 1_772_323_200_000, "bundleId": .string(fixtures.bundleID),
                "appAppleId": .integer(fixtures.appAppleID),
            ]
        case "app":
            data["bundleVersion"] = nil
            claims["appData"] = data
        case "none": break
        default: claims["data"] = data
        }
    }

    func again(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        guard let label = statement.arguments.first, let body = labelled[label] else {
            throw statement.fault("again LABEL, of a notification with as=LABEL before it")
        }
        return made(statement, .notify(body, expected: try answer(statement)))
    }

    mutating func upload(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        var fields = ScenarioFields()
        fields.apply(statement.arguments.dropFirst())
        let known: Set = ["transfer", "account", "forged"]
        guard let customer = statement.arguments.first, fields.unknown(besides: known).isEmpty
        else { throw statement.fault("upload CUSTOMER|nobody [transfer] [account=ID]") }
        let signed = try signedParts(statement, forged: fields["forged"])
        var upload = ScenarioUpload(
            customerID: customer == "nobody" ? "" : customer, transactions: signed.transactions,
            renewals: signed.renewals, appTransaction: [], isTransfer: fields["transfer"] != nil)
        if let account = fields["account"] {
            let fixtures = fixtures
            upload.appTransaction = try signing(statement) { () throws in
                try fixtures.appTransaction(account, created: 1_772_323_200_000)
            }
        }
        return made(statement, .upload(upload, expected: try answer(statement)))
    }

    private func signing(
        _ statement: ScenarioStatement, _ body: () throws -> [UInt8]
    ) throws(ScenarioError) -> [UInt8] {
        do {
            return try body()
        } catch {
            throw statement.fault("cannot sign: \(error)")
        }
    }

    func link(_ statement: ScenarioStatement) throws(ScenarioError) -> ScenarioStep {
        var fields = ScenarioFields()
        fields.apply(statement.arguments.dropFirst())
        let known: Set = ["transfer", "account", "token", "original", "household", "leave"]
        guard let customer = statement.arguments.first, fields.unknown(besides: known).isEmpty
        else { throw statement.fault("link CUSTOMER [original=ID] [household=NAME]") }
        let identity =
            fields["original"].map(CustomerReference.originalTransaction)
            ?? fields["token"].map(CustomerReference.appAccountToken)
            ?? fields["account"].map(CustomerReference.appTransaction)
        let link = ScenarioLink(
            customerID: customer, identity: identity, householdID: fields["household"] ?? "",
            leavesHousehold: fields["leave"] != nil, isTransfer: fields["transfer"] != nil)
        return made(statement, .link(link, expected: try answer(statement)))
    }

    private func answer(
        _ statement: ScenarioStatement
    ) throws(ScenarioError) -> ScenarioAnswer? {
        switch statement.expected.count {
        case 0: return nil
        case 1:
            let word = statement.expected[0]
            return .done(word == "OK" ? "" : word)
        case 2 where statement.expected[0] == "refused": return .refused(statement.expected[1])
        default: throw statement.fault("-> OK, -> DISPOSITION or -> refused REASON")
        }
    }
}

/// What the parts of a statement came to.
private struct SignedParts {
    var transactions: [[UInt8]] = []
    var renewals: [[UInt8]] = []
    /// 2026-01-01 when nothing signed is carried.
    var newestDate: Int64 = 1_767_225_600_000
    private var hasDate = false

    mutating func note(_ claims: FixtureJSON) {
        guard case .integer(let date)? = claims["signedDate"] else { return }
        newestDate = hasDate ? max(newestDate, date) : date
        hasDate = true
    }
}
