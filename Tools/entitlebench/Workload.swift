internal import LoadGenerator
internal import ToolSupport

/// Something that can be asked of a server, again and again, with answers that are known.
struct Workload: Sendable {
    /// What carries it out; gives what there is to report.
    typealias Body = @Sendable (WorkloadRun) async throws(CommandFailure) -> LoadReport

    /// As one writes it on the command line.
    let name: String
    /// One line for the help.
    let summary: String
    /// Whether it changes what the server knows: then it takes a server of its own each time.
    let changesData: Bool
    /// How many customers with a thousand transactions each it needs beside the others.
    let heavyCustomerCount: Int
    let body: Body

    /// A workload with steps of its own.
    init(
        _ name: String, _ summary: String, changesData: Bool = false, heavyCustomerCount: Int = 0,
        body: @escaping Body
    ) {
        self.name = name
        self.summary = summary
        self.changesData = changesData
        self.heavyCustomerCount = heavyCustomerCount
        self.body = body
    }

    /// The population that it is run on.
    func plan(_ options: LoadOptions) -> SeedPlan {
        SeedPlan(
            seed: options.seed, customerCount: options.customerCount,
            heavyCustomerCount: heavyCustomerCount,
            heavyTransactionCount: heavyCustomerCount > 0 ? 1_000 : 1)
    }

    /// A workload that is one script on all connections.
    init(
        _ name: String, _ summary: String,
        script: @escaping @Sendable (WorkloadRun) -> LoadScript
    ) {
        self.init(name, summary) { (run) throws(CommandFailure) in
            try await run.report(run.drive(script(run)))
        }
    }
}

/// Every workload there is.
enum Workloads {
    /// The one that runs when none is named.
    static let canonical = "mixed"

    static let all: [Workload] = [
        CheckHotWorkload.workload,
        CheckZipfWorkload.workload,
        CheckUniformWorkload.workload,
        CheckMissWorkload.workload,
        CheckBatchWorkload.workload,
        WriteWorkloads.ingest,
        WriteWorkloads.mixed,
        WriteWorkloads.rebuildStorm,
        WriteWorkloads.familyRefund,
    ]

    /// The one of a name.
    ///
    /// - Throws: `CommandFailure` with `.usage`, naming the nearest one.
    static func named(_ name: String) throws(CommandFailure) -> Workload {
        if let workload = all.first(where: { $0.name == name }) { return workload }
        let names = all.map(\.name)
        let nearest = NearestName.find(for: name, among: names)
        throw CommandFailure(
            .usage, "unknown workload `\(name)`",
            hint: nearest.map { "did you mean `\($0)`?" }
                ?? "there are " + names.joined(separator: ", "))
    }
}
