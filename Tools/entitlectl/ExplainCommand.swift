internal import EntitledClient
internal import ToolSupport

/// `explain`: the verdict, what it rests on, and why, in sentences.
enum ExplainCommand {
    static let command = Command(
        words: ["explain"], operands: ["CUSTOMER", "PRODUCT?"],
        flags: [
            .value("entitlement", "NAME", "ask about a name of the catalog instead of a product"),
            .value("at", "TIME", "the instant asked about [now]"),
        ],
        summary: "why may this customer use this, or not?",
        details: [
            CommandTable.customerHelp,
            "The sentences are meant to be sent on to a customer; the list below them names all",
            "that was looked at. Attention, where it stands between them, is for you: the payment",
            "behind a family copy went back, and its access goes on.",
            "JSON: as check, and cause (NONE, REFUND, DEPARTURE, TIME, NOTHING_BOUGHT, OTHER),",
            "paymentReversed, causeCertain, verdict, sentences, lookedAt, transactions,",
            "familyConfidence, familyTransactionId, refreshedAt, queuedRefresh, attention.",
        ],
        examples: [
            ("entitlectl explain u-1001 meadow.plus", "for a support ticket"),
            (
                "entitlectl explain u-1001 meadow.plus --at 2026-03-08T10:00:00Z",
                "as it was then, on what is known now"
            ),
        ],
        body: run)

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let question = try CheckCommand.question(invocation)
        let (answer, customer) = try await invocation.withClient {
            (client) throws(ClientError) in
            let answer = try await client.checkAccess(question)
            do throws(ClientError) {
                return (answer, try await client.customer(question.customer) as Customer?)
            } catch .refused(let refusal) where refusal.status == .notFound {
                return (answer, nil)
            } catch {
                throw error
            }
        }
        let explanation = Explanation(
            question: question, name: invocation.operands[0], answer: answer, customer: customer)
        if invocation.isJSON {
            invocation.console.print(
                json(explanation, question, answer, invocation.operands[0]))
        } else {
            invocation.console.print(lines(explanation))
        }
        return .success
    }

    private static func lines(_ explanation: Explanation) -> [Line] {
        var lines = [Line(explanation.verdict, explanation.isGranted ? .good : .bad)]
        lines += explanation.sentences.map { Line($0) }
        if !explanation.attention.isEmpty {
            lines += [Line(""), Line("Attention", .bad)]
            lines += explanation.attention.map { Line("  \($0)") }
        }
        lines += [Line(""), Line("Looked at", .bold)]
        lines += explanation.lookedAt.map { Line("  \($0)") }
        return lines
    }

    private static func json(
        _ explanation: Explanation, _ question: AccessQuestion, _ answer: AccessAnswer,
        _ name: String
    ) -> JSONValue {
        guard
            case .object(let members) = CheckCommand.json(question, answer, name)
        else { return .null }
        return .object(
            members + [
                ("cause", .string(explanation.cause.rawValue)),
                ("paymentReversed", .boolean(explanation.isPaymentReversed)),
                ("causeCertain", .boolean(explanation.isCauseCertain)),
                ("verdict", .string(explanation.verdict)),
                ("sentences", .array(explanation.sentences.map { .string($0) })),
                ("lookedAt", .array(explanation.lookedAt.map { .string($0) })),
                (
                    "transactions",
                    .array(explanation.transactions.map { $0.json(withPayload: false) })
                ),
                (
                    "familyConfidence",
                    explanation.entitlement.map { .string($0.familyConfidence.name) } ?? .null
                ),
                (
                    "familyTransactionId",
                    .optional(explanation.entitlement?.familyTransactionID ?? "")
                ),
                ("refreshedAt", .instant(explanation.refreshedAtMilliseconds)),
                ("queuedRefresh", explanation.queuedRefresh?.json ?? .null),
                ("attention", .array(explanation.attention.map { .string($0) })),
            ])
    }
}
