internal import LoadGenerator

/// Customers whom the server has never heard of: a no must cost no more than a yes.
enum CheckMissWorkload {
    static let workload = Workload("check-miss", "CheckAccess of customers nobody knows") { run in
        .check(CheckScript(population: run.seed.unknownPopulation(), selection: .uniform))
    }
}
