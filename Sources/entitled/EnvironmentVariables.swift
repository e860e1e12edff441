/// What the environment says: the variables that begin with `ENTITLED_`, values still as text.
struct EnvironmentVariables: Equatable, Sendable {
    static let prefix = "ENTITLED_"

    private(set) var values: [SettingKey: String] = [:]
    private(set) var problems: [ConfigurationProblem] = []

    /// Reads the process's environment; the order of the problems is that of the names.
    init(_ environment: [String: String]) {
        var settings: [String: Setting] = [:]
        for setting in SettingTable.all {
            if let name = setting.environmentName { settings[name] = setting }
        }
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(Self.prefix) && !Self.isForeign(name) {
            if let setting = settings[name] {
                if !value.isEmpty { values[setting.key] = value }
            } else {
                let known = settings.keys.sorted().map { String($0.dropFirst(Self.prefix.count)) }
                let rest = String(name.dropFirst(Self.prefix.count))
                problems.append(
                    .unknown("environment variable", prefix: Self.prefix, rest, among: known))
            }
        }
    }

    /// Variables that bear our prefix and are not ours. Kubernetes sets some for every Service of
    /// the namespace, named after it: ENTITLED_SERVICE_HOST, ENTITLED_SERVICE_PORT_RPC,
    /// ENTITLED_PORT, ENTITLED_PORT_7420_TCP_ADDR and the like, for a Service named `entitled`
    /// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
    /// This package's tests read ENTITLED_VECTORS, and the servers that they start inherit it.
    private static func isForeign(_ name: String) -> Bool {
        let rest = name.dropFirst(prefix.count)
        if rest == "VECTORS" || rest == "PORT" || rest == "SERVICE_HOST" { return true }
        if rest == "SERVICE_PORT" || rest.hasPrefix("SERVICE_PORT_") { return true }
        let parts = rest.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count >= 3 && parts[0] == "PORT" && Quantity.isDigits(parts[1])
            && ["TCP", "UDP", "SCTP"].contains(parts[2])
    }
}
