import Entitlements
import OpenSSL

/// A scenario file, read: a timeline of signed events and what must be answered after them.
///
/// The language stands in Tests/ScenarioTests/README.md. Reading signs nothing; each play is signed
/// once and can be run in all its orders against any driver.
package struct Scenario: Sendable {
    private let ways: [[ScenarioNode]]

    /// Reads a file's text.
    ///
    /// - Throws: `ScenarioError` for a block that does not fit; statements are checked by `plays`.
    package init(_ text: String) throws(ScenarioError) {
        ways = ScenarioNode.ways(try ScenarioNode.parse(text))
    }

    /// Every way through the file, signed by `authority`.
    ///
    /// - Throws: `ScenarioError`, naming the line.
    package func plays(
        signedBy authority: TestCertificateAuthority
    ) throws(ScenarioError) -> [ScenarioPlay] {
        var plays: [ScenarioPlay] = []
        for way in ways {
            var builder = ScenarioBuilder(authority: authority)
            plays.append(try builder.play(way))
        }
        return plays
    }
}

/// Turns statements into signed steps, in the order of the file.
struct ScenarioBuilder {
    var authority: TestCertificateAuthority
    var settings = ScenarioSettings()
    var scope = Scope(bundleID: "com.example.meadow", environment: .production)
    var environmentName = "Production"
    var appAppleIDs = ["com.example.meadow": Int64(1_600_000_001)]
    /// What was said of each transaction so far, by world and id.
    var transactions: [String: ScenarioFields] = [:]
    /// The bytes of labelled notifications.
    var labelled: [String: [UInt8]] = [:]
    var lastInstant: Timestamp?
    var notificationCount = 0

    init(authority: TestCertificateAuthority) {
        self.authority = authority
    }

    mutating func play(_ nodes: [ScenarioNode]) throws(ScenarioError) -> ScenarioPlay {
        var parts: [ScenarioPlay.Part] = []
        for node in nodes {
            switch node {
            case .statement(let statement):
                if let step = try step(statement) { parts.append(.step(step)) }
            case .anyOrder(let statements):
                var steps: [ScenarioStep] = []
                for statement in statements {
                    if let step = try step(statement) { steps.append(step) }
                }
                parts.append(.anyOrder(steps))
            case .oneOf:
                preconditionFailure("the alternatives are chosen before a play is built")
            }
        }
        if settings.apps.isEmpty {
            settings.apps = [
                ScenarioSettings.App(
                    bundleID: "com.example.meadow", appAppleID: 1_600_000_001,
                    environments: [.production])
            ]
        }
        return ScenarioPlay(settings: settings, parts: parts)
    }

    /// The step of a statement; nil when it only sets something.
    private mutating func step(
        _ statement: ScenarioStatement
    ) throws(ScenarioError) -> ScenarioStep? {
        switch statement.verb {
        case "app": try addApp(statement)
        case "product": try addProduct(statement)
        case "cut": try chooseCut(statement)
        case "in": try enter(statement)
        case "signer": try changeSigner(statement)
        case "notify": return try notify(statement)
        case "again": return try again(statement)
        case "upload": return try upload(statement)
        case "link": return try link(statement)
        case "history": return try history(statement)
        case "stored": return try stored(statement)
        case "entitlement": return try entitlement(statement)
        default: return try check(statement)
        }
        return nil
    }

    func made(_ statement: ScenarioStatement, _ action: ScenarioStep.Action) -> ScenarioStep {
        ScenarioStep(line: statement.line, scope: scope, action: action)
    }

    var fixtures: SignedFixtures {
        SignedFixtures(
            authority: authority, bundleID: scope.bundleID,
            appAppleID: appAppleIDs[scope.bundleID] ?? 1_600_000_099, environment: environmentName)
    }

    func sign(
        _ claims: FixtureJSON, _ forgery: String?, _ statement: ScenarioStatement
    ) throws(ScenarioError) -> [UInt8] {
        var known: ScenarioForgery?
        if let forgery {
            guard let found = ScenarioForgery(rawValue: forgery) else {
                let names = ScenarioForgery.allCases.map(\.rawValue).joined(separator: ", ")
                throw statement.fault("forged= is one of \(names)")
            }
            known = found
        }
        do throws(OpenSSLError) {
            guard let known else { return try authority.sign(claims) }
            return try known.sign(claims, authority: authority)
        } catch {
            throw statement.fault("cannot sign: \(error)")
        }
    }
}

// MARK: - Settings

extension ScenarioBuilder {
    private mutating func addApp(_ statement: ScenarioStatement) throws(ScenarioError) {
        let words = statement.arguments
        guard words.count >= 3, let id = Int64(words[1]) else {
            throw statement.fault("app BUNDLE-ID APPLE-ID ENVIRONMENT...")
        }
        var environments: Set<AppEnvironment> = []
        for name in words[2...] {
            guard let environment = AppEnvironment(name: name) else {
                throw statement.fault("\(name) is neither Production nor Sandbox")
            }
            environments.insert(environment)
        }
        appAppleIDs[words[0]] = id
        settings.apps.append(
            ScenarioSettings.App(bundleID: words[0], appAppleID: id, environments: environments))
    }

    private mutating func addProduct(_ statement: ScenarioStatement) throws(ScenarioError) {
        var fields = ScenarioFields()
        fields.apply(statement.arguments.dropFirst())
        guard let id = statement.arguments.first,
            fields.unknown(besides: ["duration", "prorated", "names"]).isEmpty
        else {
            throw statement.fault("product ID [duration=90d] [prorated=keep] [names=a,b]")
        }
        var product = ScenarioSettings.Product()
        product.entitlements = fields["names"]?.split(separator: ",").map(String.init) ?? []
        product.keepsProratedRefunds = fields["prorated"] == "keep"
        if let duration = fields["duration"] {
            guard duration.hasSuffix("d"), let days = Int64(duration.dropLast()) else {
                throw statement.fault("duration= is a number of days, such as 90d")
            }
            product.duration = days * 86_400_000
        }
        settings.products[id] = product
    }

    /// `cut off|declared|matched`: which families a buyer's refund suspends.
    private mutating func chooseCut(_ statement: ScenarioStatement) throws(ScenarioError) {
        guard statement.arguments.count == 1, let name = statement.arguments.first,
            let cut = FamilyCut(scenarioName: name)
        else { throw statement.fault("cut off, cut declared or cut matched") }
        settings.familyCut = cut
    }

    /// `signer until=INSTANT`: another leaf of the same intermediate, valid until then.
    private mutating func changeSigner(_ statement: ScenarioStatement) throws(ScenarioError) {
        var fields = ScenarioFields()
        fields.apply(statement.arguments)
        guard let end = try fields.date("until", statement) else {
            throw statement.fault("signer until=INSTANT")
        }
        do throws(OpenSSLError) {
            authority = try TestCertificateAuthority(
                rotatingLeafOf: authority,
                validity: ValidityWindow(
                    notBeforeMilliseconds: TestCertificateAuthority.longValidity
                        .notBeforeMilliseconds, notAfterMilliseconds: end))
        } catch {
            throw statement.fault("cannot make a certificate: \(error)")
        }
    }

    private mutating func enter(_ statement: ScenarioStatement) throws(ScenarioError) {
        let words = statement.arguments
        guard words.count == 2 else { throw statement.fault("in BUNDLE-ID ENVIRONMENT") }
        // Signed data may name any environment; questions need one of the two.
        let environment = AppEnvironment(name: words[1]) ?? .production
        scope = Scope(bundleID: words[0], environment: environment)
        environmentName = words[1]
    }
}
