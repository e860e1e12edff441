internal import LoadGenerator

/// All customers equally often: what memory costs when there are many.
enum CheckUniformWorkload {
    static let workload = Workload(
        "check-uniform", "CheckAccess of all customers, equally often"
    ) { run in
        .check(CheckScript(population: run.seed.checkPopulation(), selection: .uniform))
    }
}
