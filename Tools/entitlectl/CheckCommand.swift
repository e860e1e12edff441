internal import EntitledClient
internal import ToolSupport

/// `check`: may this customer use this?
enum CheckCommand {
    static let command = Command(
        words: ["check"], operands: ["CUSTOMER", "PRODUCT?"],
        flags: [
            .value("entitlement", "NAME", "ask about a name of the catalog instead of a product"),
            .value("at", "TIME", "the instant asked about [now]"),
            .toggle("exit-code", "exit 0 when granted, 3 when denied"),
        ],
        summary: "may this customer use this product?",
        details: [
            CommandTable.customerHelp, "A no is an answer: exit code 0, unless --exit-code asks.",
            "JSON: customer, product or entitlement, at, granted, reason, ownership, validUntil,",
            "productId, transactionId, originalTransactionId, revision. Times: RFC 3339 or null.",
        ],
        examples: [
            ("entitlectl check u-1001 meadow.plus", "yes or no, and why"),
            (
                "entitlectl check token:6f9619ff-8b86-d011-b42d-00cf4fc964ff --entitlement plus "
                    + "--exit-code && serve", "in a script"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let question = try question(invocation)
        let answer = try await invocation.withClient { (client) throws(ClientError) in
            try await client.checkAccess(question)
        }
        if invocation.isJSON {
            invocation.console.print(json(question, answer, invocation.operands[0]))
        } else {
            invocation.console.print(lines(answer))
        }
        return invocation.has("exit-code") && !answer.isGranted ? .denied : .success
    }

    /// The question that operands and flags ask.
    static func question(_ invocation: Invocation) throws(CommandFailure) -> AccessQuestion {
        let subject: AccessSubject
        switch (invocation.operands.dropFirst().first, invocation.value("entitlement")) {
        case (let product?, nil) where !product.isEmpty: subject = .product(product)
        case (nil, let name?): subject = .entitlement(name)
        default:
            throw CommandFailure(
                .usage, "name a PRODUCT, or an entitlement with --entitlement NAME; one of them")
        }
        return AccessQuestion(
            customer: try invocation.customer(invocation.operands[0]), subject: subject,
            atMilliseconds: try invocation.instant("at"))
    }

    private static func lines(_ answer: AccessAnswer) -> [Line] {
        let verdict =
            answer.isGranted
            ? Line("granted", .good).adding("  \(answer.reason.name)")
            : Line("denied", .bad).adding("  \(answer.reason.name)")
        var pairs: [(String, Table.Cell)] = []
        if !answer.productID.isEmpty { pairs.append(("product", .init(answer.productID))) }
        if answer.ownership != .unspecified {
            pairs.append(("ownership", .init(answer.ownership.name)))
        }
        if !answer.transactionID.isEmpty {
            pairs.append(("transaction", .init(answer.transactionID)))
            pairs.append(("original", .init(answer.originalTransactionID)))
        }
        if let until = answer.validUntilMilliseconds {
            pairs.append((answer.isGranted ? "until" : "from", .init(Instant.text(until))))
        }
        pairs.append(("revision", .init("\(answer.revision)")))
        return [verdict] + Table.pairs(pairs, indent: 2)
    }

    static func json(
        _ question: AccessQuestion, _ answer: AccessAnswer, _ customer: String
    ) -> JSONValue {
        var members: [(name: String, value: JSONValue)] = [("customer", .string(customer))]
        switch question.subject {
        case .product(let id): members.append(("product", .string(id)))
        case .entitlement(let name): members.append(("entitlement", .string(name)))
        }
        members += [
            ("at", .instant(question.atMilliseconds)), ("granted", .boolean(answer.isGranted)),
            ("reason", .string(answer.reason.name)), ("ownership", .string(answer.ownership.name)),
            ("validUntil", .instant(answer.validUntilMilliseconds)),
            ("productId", .optional(answer.productID)),
            ("transactionId", .optional(answer.transactionID)),
            ("originalTransactionId", .optional(answer.originalTransactionID)),
            ("revision", .natural(answer.revision)),
        ]
        return .object(members)
    }
}
