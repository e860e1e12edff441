package import Entitlements

// What a scenario says, in the words of the wire and of the configuration file: for a driver that
// reaches the server through nothing else.

/// One app in one environment.
package typealias ScenarioScope = Scope

/// How a scenario names a customer.
package typealias ScenarioCustomer = CustomerReference

extension Scope {
    /// The bundle identifier.
    package var scenarioBundleID: String { bundleID }

    /// Whether it is the Sandbox of the app, not its Production.
    package var isScenarioSandbox: Bool { environment == .sandbox }
}

/// What kind of name a scenario calls a customer by.
package enum ScenarioCustomerKind: Sendable {
    case customerID
    case appAccountToken
    case appTransactionID
    case originalTransactionID
}

extension CustomerReference {
    /// What kind of name it is.
    package var scenarioKind: ScenarioCustomerKind {
        switch self {
        case .customer: .customerID
        case .appAccountToken: .appAccountToken
        case .appTransaction: .appTransactionID
        case .originalTransaction: .originalTransactionID
        }
    }

    /// The name itself.
    package var scenarioName: String {
        switch self {
        case .customer(let name), .appAccountToken(let name), .appTransaction(let name),
            .originalTransaction(let name):
            name
        }
    }
}

extension ScenarioCheck {
    /// The instant asked about, in milliseconds since 1970.
    package var instantMilliseconds: Int64 { instant.milliseconds }
}

extension ScenarioSettings {
    /// What has to be configured, as a server's configuration file says it.
    ///
    /// - Parameter rootPath: A file with the root to trust, which is none of Apple's.
    /// - Returns: JSON, which is JSON5.
    package func configuration(rootPath: String) -> FixtureJSON {
        let products = products.sorted { $0.key < $1.key }.map {
            FixtureJSON.Member($0.key.text, $0.value.configuration)
        }
        let apps = apps.map { app -> FixtureJSON in
            let environments = app.environments.map(\.name).sorted()
            return [
                "bundleId": .string(app.bundleID), "appAppleId": .integer(app.appAppleID),
                "environments": .array(environments.map { .string($0) }),
                "products": .object(products),
            ]
        }
        return [
            "apps": .array(apps),
            "apple": ["roots": [.string(rootPath)], "allowTestRoot": true],
            "family": ["cut": .string(familyCut.scenarioName)],
        ]
    }
}

extension FamilyCut {
    /// How files and configurations write it.
    package var scenarioName: String {
        switch self {
        case .off: "off"
        case .declared: "declared"
        case .matched: "matched"
        }
    }

    /// The cut of this name; nil when there is none.
    package init?(scenarioName: String) {
        let cuts: [FamilyCut] = [.off, .declared, .matched]
        guard let cut = cuts.first(where: { $0.scenarioName == scenarioName }) else { return nil }
        self = cut
    }
}

extension ScenarioSettings.Product {
    /// The catalog entry, without what has its default.
    fileprivate var configuration: FixtureJSON {
        var entry = FixtureJSON.object([])
        if !entitlements.isEmpty {
            entry["entitlements"] = .array(entitlements.map { .string($0) })
        }
        if duration != 0 { entry["duration"] = .string("\(duration)ms") }
        if keepsProratedRefunds { entry["refunds"] = ["prorated": "keep"] }
        return entry
    }
}
