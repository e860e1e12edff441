package import Entitlements

/// Where a scenario is played: the service itself, or a server behind a socket.
package protocol ScenarioDriver {
    /// Delivers a notification's body.
    func notify(_ body: [UInt8]) throws -> ScenarioAnswer
    /// Hands in what the app has; `done` carries no disposition.
    func upload(_ upload: ScenarioUpload) throws -> ScenarioAnswer
    /// Says who somebody is or who shares.
    func link(_ link: ScenarioLink, in scope: Scope) throws -> ScenarioAnswer
    /// Asks about access.
    func check(_ check: ScenarioCheck, in scope: Scope) throws -> ScenarioVerdict
    /// All that is known of a customer; nil when nothing is.
    func customer(_ customer: CustomerReference, in scope: Scope) throws -> ScenarioRecord?
}

extension ScenarioPlay {
    /// The orders in which to run it: every one, or `limit` of them drawn by `seed` where there are
    /// more. The order of the file is always among them.
    package func orders(limit: Int, seed: UInt64) -> [[ScenarioStep]] {
        precondition(limit > 0)
        var orders: [[ScenarioStep]] = [[]]
        for part in parts {
            switch part {
            case .step(let step):
                orders = orders.map { $0 + [step] }
            case .anyOrder(let steps):
                let permutations = Self.permutations(of: steps, limit: limit, seed: seed)
                orders = orders.flatMap { order in permutations.map { order + $0 } }
            }
        }
        guard orders.count > limit else { return orders }
        var generator = SeededGenerator(seed: seed)
        return [orders[0]] + orders.dropFirst().shuffled(using: &generator).prefix(limit - 1)
    }

    private static func permutations(
        of steps: [ScenarioStep], limit: Int, seed: UInt64
    ) -> [[ScenarioStep]] {
        var count = 1
        for factor in 1...max(1, steps.count) where count <= limit { count *= factor }
        guard count > limit else { return allPermutations(of: steps) }
        var generator = SeededGenerator(seed: seed)
        return [steps] + (1..<limit).map { _ in steps.shuffled(using: &generator) }
    }

    private static func allPermutations(of steps: [ScenarioStep]) -> [[ScenarioStep]] {
        guard let last = steps.last else { return [[]] }
        return allPermutations(of: Array(steps.dropLast())).flatMap { shorter in
            (0...shorter.count).reversed().map { index in
                Array(shorter[..<index]) + [last] + Array(shorter[index...])
            }
        }
    }
}

/// Plays steps against a driver and collects what was not as the file says.
package struct ScenarioRunner<Driver: ScenarioDriver> {
    private let driver: Driver
    /// What went wrong, each with its line.
    package private(set) var failures: [String] = []

    /// A runner on a fresh server.
    package init(driver: Driver) {
        self.driver = driver
    }

    /// Plays all of `steps`; what fails is noted, and the play goes on.
    package mutating func run(_ steps: [ScenarioStep]) {
        for step in steps {
            do {
                try run(step)
            } catch {
                fail(step, "the driver failed: \(error)")
            }
        }
    }

    private mutating func fail(_ step: ScenarioStep, _ message: String) {
        failures.append("line \(step.line): \(message)")
    }

    private mutating func run(_ step: ScenarioStep) throws {
        switch step.action {
        case .notify(let body, let expected):
            compare(try driver.notify(body), expected, step)
        case .upload(let upload, let expected):
            compare(try driver.upload(upload), expected, step)
        case .link(let link, let expected):
            compare(try driver.link(link, in: step.scope), expected, step)
        case .check(let check, let reason, let validUntil):
            let verdict = try driver.check(check, in: step.scope)
            if verdict.reason != reason {
                fail(step, "answered \(verdict.reason), expected \(reason)")
            }
            if let validUntil, verdict.validUntil != validUntil {
                fail(
                    step,
                    "valid until \(text(verdict.validUntil)), expected \(text(validUntil))")
            }
        case .history(let customer, let transactions, let notifications, let name):
            guard let record = try record(customer, step) else { return }
            same(record.transactions.count, transactions, "transactions", step)
            same(record.dispositions.count, notifications, "notifications", step)
            same(record.customerID, name, "name", step)
        case .stored(let customer, let id, let values):
            guard let record = try record(customer, step) else { return }
            compare(record.transactions[id], values, "transaction \(id)", step)
        case .entitlement(let customer, let product, let values):
            guard let record = try record(customer, step) else { return }
            compare(record.entitlements[product], values, "product \(product)", step)
        }
    }

    private func text(_ milliseconds: Int64) -> String {
        milliseconds == 0
            ? "never" : ScenarioInstant.text(Timestamp(milliseconds: milliseconds))
    }

    private mutating func compare(
        _ answer: ScenarioAnswer, _ expected: ScenarioAnswer?, _ step: ScenarioStep
    ) {
        if let expected {
            if answer != expected { fail(step, "answered \(answer), expected \(expected)") }
        } else if case .refused = answer {
            fail(step, "answered \(answer)")
        }
    }

    private mutating func record(
        _ customer: CustomerReference, _ step: ScenarioStep
    ) throws -> ScenarioRecord? {
        let record = try driver.customer(customer, in: step.scope)
        if record == nil { fail(step, "nothing is known of \(customer)") }
        return record
    }

    private mutating func same<Value: Equatable>(
        _ found: Value, _ expected: Value?, _ what: String, _ step: ScenarioStep
    ) {
        guard let expected, found != expected else { return }
        fail(step, "\(what): \(found), expected \(expected)")
    }

    private mutating func compare(
        _ found: [String: String]?, _ expected: [String: String], _ what: String,
        _ step: ScenarioStep
    ) {
        guard let found else {
            fail(step, "\(what) is not there")
            return
        }
        for (name, value) in expected.sorted(by: { $0.key < $1.key })
        where found[name, default: ""] != value {
            fail(step, "\(what): \(name)=\(found[name, default: ""]), expected \(value)")
        }
    }
}
