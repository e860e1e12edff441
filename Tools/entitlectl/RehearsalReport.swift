internal import EntitledClient
internal import ToolSupport

/// What a check should answer.
struct ExpectedAccess: Equatable, Sendable {
    let reason: AccessReason
    var ownership: Ownership = .unspecified

    /// Below 10 a reason grants.
    var isGranted: Bool { reason == .active || reason == .gracePeriod }

    /// For people: `denied REFUNDED PURCHASED`.
    var text: String {
        let words = [isGranted ? "granted" : "denied", reason.name]
        return (words + (ownership == .unspecified ? [] : [ownership.name])).joined(separator: " ")
    }
}

/// One person's answer beside the right one.
struct CheckReport: Sendable {
    let person: Person
    let said: ExpectedAccess
    let isGranted: Bool
    let right: ExpectedAccess

    var isRight: Bool { said == right && isGranted == right.isGranted }
}

/// One thing that was done, what the server said to it, and everybody's access after it.
struct StepReport: Sendable {
    let title: String
    let product: Product
    /// What the server said to the write.
    let said: String
    /// What is wrong with that; empty = nothing.
    let complaints: [String]
    let checks: [CheckReport]

    var wrongCount: Int { complaints.count + checks.filter { !$0.isRight }.count }
}

/// One act of the drill.
struct ActReport: Sendable {
    let title: String
    var steps: [StepReport] = []
}

/// The whole drill.
struct RehearsalReport: Sendable {
    let address: String
    var acts: [ActReport] = []
    /// Titles of acts that could not be played here.
    var leftOut: [String] = []

    var steps: [StepReport] { acts.flatMap(\.steps) }
    var answerCount: Int { steps.reduce(0) { $0 + $1.checks.count } }
    var wrongCount: Int { steps.reduce(0) { $0 + $1.wrongCount } }
    var isRight: Bool { wrongCount == 0 }

    var summary: Line {
        let counts = "\(acts.count) acts, \(steps.count) steps, \(answerCount) answers"
        return isRight
            ? Line("All right", .good).adding(": \(counts), none wrong.")
            : Line("\(wrongCount) wrong", .bad).adding(": \(counts).")
    }

    /// Which acts were left out, and why.
    var leftOutLines: [Line] {
        guard !leftOut.isEmpty else { return [] }
        return [Line("left out, for they need a server of the drill's own:", .dim)]
            + leftOut.map { Line("  \($0)", .dim) }
    }

    var json: JSONValue {
        .object([
            ("address", .string(address)), ("right", .boolean(isRight)),
            ("steps", .integer(Int64(steps.count))), ("answers", .integer(Int64(answerCount))),
            ("wrong", .integer(Int64(wrongCount))),
            ("leftOut", .array(leftOut.map { .string($0) })),
            ("acts", .array(acts.map(\.json))),
        ])
    }
}

extension ActReport {
    var json: JSONValue {
        .object([("title", .string(title)), ("steps", .array(steps.map(\.json)))])
    }
}

extension StepReport {
    /// For people: the step, then everybody.
    var lines: [Line] {
        var lines = [
            Line("  \(title)").adding("  \(said)", .dim)
        ]
        lines += complaints.map { Line("    ").adding("WRONG", .bad).adding("  \($0)") }
        var table = Table([
            .text("PERSON"), .text("ROLE"), .text("THE SERVER SAYS"), .text("RIGHT IS"), .text(""),
        ])
        for check in checks {
            table.add([
                .init(check.person.name), .init(check.person.role),
                .init(check.said.text, check.isGranted ? .good : .plain),
                .init(check.isRight ? "the same" : check.right.text, .dim),
                check.isRight ? .init("right", .good) : .init("WRONG", .bad),
            ])
        }
        // The titles would be the same on every step.
        return lines + table.lines(indent: 4).dropFirst()
    }

    var json: JSONValue {
        .object([
            ("title", .string(title)), ("product", .string(product.rawValue)),
            ("said", .string(said)),
            ("complaints", .array(complaints.map { .string($0) })),
            ("checks", .array(checks.map(\.json))),
        ])
    }
}

extension CheckReport {
    var json: JSONValue {
        .object([
            ("person", .string(person.name)), ("role", .string(person.role)),
            ("customer", .string(person.userID)), ("granted", .boolean(isGranted)),
            ("reason", .string(said.reason.name)), ("ownership", .string(said.ownership.name)),
            ("rightGranted", .boolean(right.isGranted)),
            ("rightReason", .string(right.reason.name)),
            ("rightOwnership", .string(right.ownership.name)), ("right", .boolean(isRight)),
        ])
    }
}
