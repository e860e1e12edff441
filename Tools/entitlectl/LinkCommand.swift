internal import EntitledClient
internal import ToolSupport

/// `link`: who a customer is, and with whom he shares purchases.
enum LinkCommand {
    static let command = Command(
        words: ["link"], operands: ["CUSTOMER"],
        flags: [
            .value("app-account-token", "UUID", "the token that the app gave with the purchase"),
            .value("app-transaction-id", "ID", "Apple's appTransactionId"),
            .value("original-transaction-id", "ID", "Apple's originalTransactionId"),
            .value("household", "NAME", "the customer shares purchases with this household"),
            .toggle("leave-household", "the customer shares purchases with nobody"),
            .toggle("transfer", "move what belongs to another customer instead of refusing"),
        ],
        summary: "say who a customer is, or who shares",
        details: [
            "CUSTOMER is the app's own user id.",
            "JSON: customer, changes (customer, product, grantedBefore, grantedAfter, reason),",
            "revision.",
        ],
        examples: [
            ("entitlectl link u-1001 --app-transaction-id 704512", "this Apple account is u-1001"),
            ("entitlectl link u-1002 --household smiths", "u-1002 shares with the smiths"),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let link = try link(invocation)
        let result = try await invocation.withClient { (client) throws(ClientError) in
            try await client.linkCustomer(link)
        }
        if invocation.isJSON {
            invocation.console.print(
                JSONValue.object([
                    ("customer", .string(link.customerID)),
                    ("changes", .array(result.changes.map(\.json))),
                    ("revision", .natural(result.revision)),
                ]))
        } else {
            invocation.console.print(
                [Line("linked, revision \(result.revision)")] + AccessChange.lines(result.changes))
        }
        return .success
    }

    private static func link(_ invocation: Invocation) throws(CommandFailure) -> CustomerLink {
        guard case .customer(let name) = try invocation.customer(invocation.operands[0]) else {
            throw CommandFailure(
                .usage, "`\(invocation.operands[0])` is Apple's name",
                hint: "CUSTOMER is the app's own user id; Apple's names go into flags")
        }
        let identities: [CustomerReference] = [
            invocation.value("app-account-token").map { .appAccountToken($0) },
            invocation.value("app-transaction-id").map { .appTransaction($0) },
            invocation.value("original-transaction-id").map { .originalTransaction($0) },
        ].compactMap(\.self)
        guard identities.count <= 1 else {
            throw CommandFailure(.usage, "link one identity at a time")
        }
        var household = CustomerLink.Household.unchanged
        if let name = invocation.value("household") { household = .join(name) }
        if invocation.has("leave-household") {
            guard household == .unchanged else {
                throw CommandFailure(.usage, "--household and --leave-household contradict")
            }
            household = .leave
        }
        guard !identities.isEmpty || household != .unchanged else {
            throw CommandFailure(
                .usage, "nothing to link",
                hint: "name an identity, --household NAME or --leave-household")
        }
        return CustomerLink(
            customerID: name, identity: identities.first, household: household,
            transfersOwnership: invocation.has("transfer"))
    }
}
