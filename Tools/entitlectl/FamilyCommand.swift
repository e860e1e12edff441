internal import EntitledClient
internal import ToolSupport

/// `family`: who shares with whom.
enum FamilyCommand {
    private static let household = Flag.value("household", "NAME", "the app's name of the family")

    static let show = Command(
        words: ["family", "show"], operands: ["CUSTOMER?"], flags: [household],
        summary: "who shares purchases with a customer, or in a household",
        details: [
            CommandTable.customerHelp,
            "Declared is what the app said; likely is what product and dates suggest, for Apple",
            "publishes no link between a purchase and the family's copies of it.",
            "JSON: household, members (customer, copies), matched (product, purchaseDate,",
            "expiresDate, confidence, note, copies), warnings, revision.",
        ],
        examples: [
            ("entitlectl family show u-1001", "his household, and his likely families"),
            ("entitlectl family show --household smiths", "the members of the smiths"),
        ],
        body: showFamily)

    static let link = Command(
        words: ["family", "link"], operands: ["CUSTOMER..."], flags: [household],
        summary: "say that customers share purchases",
        details: [
            "CUSTOMER is the app's own user id. Whoever was in another household leaves it.",
            "JSON, one object a line: customer, changes, revision.",
        ],
        examples: [
            ("entitlectl family link u-1001 u-1002 u-1003 --household smiths", "a family of three")
        ],
        body: { (invocation) throws(CommandFailure) in
            guard let name = invocation.value("household") else {
                throw CommandFailure(
                    .usage, "which household? name it with --household NAME")
            }
            return try await declare(.join(name), invocation)
        })

    static let unlink = Command(
        words: ["family", "unlink"], operands: ["CUSTOMER..."], flags: [],
        summary: "say that customers share purchases with nobody",
        details: [
            "CUSTOMER is the app's own user id.",
            "JSON, one object a line: customer, changes, revision.",
        ],
        examples: [("entitlectl family unlink u-1003", "u-1003 has left the family")],
        body: { (invocation) throws(CommandFailure) in try await declare(.leave, invocation) })

    // MARK: Show

    @Sendable private static func showFamily(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let family: Family
        switch (invocation.operands.first, invocation.value("household")) {
        case (let name?, nil):
            let customer = try invocation.customer(name)
            family = try await invocation.withClient { (client) throws(ClientError) in
                try await client.family(of: customer)
            }
        case (nil, let name?):
            family = try await invocation.withClient { (client) throws(ClientError) in
                try await client.family(household: name)
            }
        default:
            throw CommandFailure(.usage, "name a CUSTOMER or --household NAME; one of them")
        }
        if invocation.isJSON {
            invocation.console.print(json(family))
        } else {
            invocation.console.print(lines(family))
        }
        return .success
    }

    private static func lines(_ family: Family) -> [Line] {
        var lines = [
            Line("household  ", .dim).adding(family.householdID ?? "none is declared", .bold)
        ]
        for warning in family.warnings { lines.append(Line(words(of: warning), .bad)) }
        for member in family.members {
            lines += [Line(""), Line(member.customerID, .bold)]
            lines +=
                member.copies.isEmpty
                ? [Line("  nothing that can be shared")]
                : FamilyCopy.lines(member.copies, indent: 2)
        }
        for family in family.matched {
            let until =
                family.expiresDateMilliseconds.map { " until \(Instant.text($0))" } ?? ""
            lines += [
                Line(""),
                Line("\(family.confidence.name.lowercased()) family", .bold).adding(
                    ": \(family.productID), bought \(Instant.text(family.purchaseDateMilliseconds))"
                        + "\(until); \(family.confidence.sentence)"),
            ]
            if !family.note.isEmpty { lines.append(Line("  \(family.note)")) }
            lines += FamilyCopy.lines(family.copies, indent: 2)
        }
        return lines + [Line(""), Line("revision \(family.revision)")]
    }

    private static func words(of warning: String) -> String {
        switch warning {
        case "MORE_THAN_SIX_PEOPLE":
            "more than six people: Apple lets six share, so the app's word is probably wrong"
        default: "warning: \(warning)"
        }
    }

    private static func json(_ family: Family) -> JSONValue {
        .object([
            ("household", .optional(family.householdID ?? "")),
            (
                "members",
                .array(
                    family.members.map {
                        .object([
                            ("customer", .string($0.customerID)),
                            ("copies", .array($0.copies.map(\.json))),
                        ])
                    })
            ),
            (
                "matched",
                .array(
                    family.matched.map {
                        .object([
                            ("product", .string($0.productID)),
                            ("purchaseDate", .instant($0.purchaseDateMilliseconds)),
                            ("expiresDate", .instant($0.expiresDateMilliseconds)),
                            ("confidence", .string($0.confidence.name)),
                            ("note", .optional($0.note)),
                            ("copies", .array($0.copies.map(\.json))),
                        ])
                    })
            ),
            ("warnings", .array(family.warnings.map { .string($0) })),
            ("revision", .natural(family.revision)),
        ])
    }

    // MARK: Declare

    private static func declare(
        _ household: CustomerLink.Household, _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        // All names are looked at before anything is said of the first.
        let names = try invocation.operands.map { (operand) throws(CommandFailure) in
            guard case .customer(let name) = try invocation.customer(operand) else {
                throw CommandFailure(
                    .usage, "`\(operand)` is Apple's name",
                    hint: "CUSTOMER is the app's own user id")
            }
            return name
        }
        for name in names {
            let link = CustomerLink(customerID: name, household: household)
            let result = try await invocation.withClient { (client) throws(ClientError) in
                try await client.linkCustomer(link)
            }
            if invocation.isJSON {
                invocation.console.print(
                    JSONValue.object([
                        ("customer", .string(name)),
                        ("changes", .array(result.changes.map(\.json))),
                        ("revision", .natural(result.revision)),
                    ]))
            } else {
                let verb = household == .leave ? "shares with nobody" : "shares"
                invocation.console.print(
                    [Line("\(name) \(verb), revision \(result.revision)")]
                        + AccessChange.lines(result.changes))
            }
        }
        return .success
    }
}
