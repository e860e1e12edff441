internal import HTTP

/// How far the table of customers is filled; answers are right meanwhile, only slower.
package struct WarmingProgress: Hashable, Sendable {
    /// Customers that are in the table.
    package var doneCount: UInt64
    /// Customers that are to be there.
    package var totalCount: UInt64
    /// How long it will take still, in milliseconds; nil when nobody knows.
    package var remainingMilliseconds: UInt64?

    /// Progress.
    package init(doneCount: UInt64, totalCount: UInt64, remainingMilliseconds: UInt64? = nil) {
        self.doneCount = doneCount
        self.totalCount = totalCount
        self.remainingMilliseconds = remainingMilliseconds
    }

    /// 0 to 100.
    package var percentage: UInt64 {
        // Divided first where the product would not fit.
        guard totalCount > 0 else { return 100 }
        return min(100, UInt64(Double(doneCount) / Double(totalCount) * 100))
    }
}

/// What the probes are answered from; told by the program, cheaply and without waiting.
package struct HealthReport: Hashable, Sendable {
    /// The longest time that an event loop has not turned, in milliseconds.
    package var loopSilenceMilliseconds: UInt64
    /// Why the store takes no reads or writes; nil when it does.
    package var storeProblem: String?
    /// Whether recovery is done and the listeners are open.
    package var isStarted: Bool
    /// Whether the server is going down.
    package var isDraining: Bool
    /// nil: the table is full, or will not be filled.
    package var warming: WarmingProgress?

    /// A healthy server.
    package init(
        loopSilenceMilliseconds: UInt64 = 0, storeProblem: String? = nil, isStarted: Bool = true,
        isDraining: Bool = false, warming: WarmingProgress? = nil
    ) {
        self.loopSilenceMilliseconds = loopSilenceMilliseconds
        self.storeProblem = storeProblem
        self.isStarted = isStarted
        self.isDraining = isDraining
        self.warming = warming
    }
}

/// `/livez`, `/readyz`, `/healthz`, `/startupz`: for load balancers and orchestrators.
///
/// 200 or 503 with one line per failed check; with `?verbose` one line per check. Without
/// authentication, and never from the store.
package struct HealthEndpoint: Sendable {
    /// A loop that has not turned for so long is stuck.
    package static let loopSilenceMillisecondsMax: UInt64 = 5_000

    private let report: @Sendable () -> HealthReport

    /// An endpoint over what is told.
    ///
    /// - Parameter report: Called for every probe; must not wait.
    package init(report: @escaping @Sendable () -> HealthReport) {
        self.report = report
    }

    /// Whether the server is going down.
    var isDraining: Bool { report().isDraining }

    private struct Check {
        let name: String
        /// nil: passed.
        let problem: String?
        var note = ""

        var line: String {
            let suffix = problem ?? note
            return "[\(problem == nil ? "+" : "-")] \(name)\(suffix.isEmpty ? "" : ": \(suffix)")\n"
        }
    }

    /// Whether the process works at all; depends on nothing outside of it.
    func live(_ request: HTTPRequest) -> HTTPResponse {
        respond([Self.loops(report())], to: request)
    }

    /// Whether requests should come here.
    func ready(_ request: HTTPRequest) -> HTTPResponse {
        let report = report()
        return respond(
            [
                Self.loops(report), Self.started(report),
                Check(name: "store", problem: report.storeProblem),
                Check(name: "draining", problem: report.isDraining ? Self.drainingProblem : nil),
                Self.warming(report),
            ], to: request)
    }

    /// Whether the start is over.
    func startup(_ request: HTTPRequest) -> HTTPResponse {
        let report = report()
        return respond([Self.started(report), Self.warming(report)], to: request)
    }

    private static let drainingProblem = "the server is going down"

    private static func loops(_ report: HealthReport) -> Check {
        let silence = report.loopSilenceMilliseconds
        let problem = "an event loop has not turned for \(silence) ms"
        return Check(
            name: "loops", problem: silence < loopSilenceMillisecondsMax ? nil : problem)
    }

    private static func started(_ report: HealthReport) -> Check {
        Check(name: "recovery", problem: report.isStarted ? nil : "the store is being opened")
    }

    /// Never a problem: a miss reads the store until the table is full.
    private static func warming(_ report: HealthReport) -> Check {
        guard let warming = report.warming else { return Check(name: "warming", problem: nil) }
        let rest = warming.remainingMilliseconds.map { ", about \($0 / 1_000) s left" } ?? ""
        return Check(name: "warming", problem: nil, note: "\(warming.percentage)%\(rest)")
    }

    private func respond(_ checks: [Check], to request: HTTPRequest) -> HTTPResponse {
        let failed = checks.filter { $0.problem != nil }
        let isVerbose = request.query.contains { $0.name.utf8.elementsEqual("verbose".utf8) }
        var lines = (isVerbose ? checks : failed).map(\.line)
        if failed.isEmpty { lines.append("ok\n") }
        return HTTPResponse(
            status: failed.isEmpty ? 200 : 503,
            fields: [
                HTTPField("Content-Type", "text/plain; charset=utf-8"),
                HTTPField("Cache-Control", "no-store"),
            ],
            body: Array(lines.joined().utf8))
    }
}
