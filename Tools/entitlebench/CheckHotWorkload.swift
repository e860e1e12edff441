internal import LoadGenerator

/// A thousand customers, who fit into every cache: what the code alone costs.
enum CheckHotWorkload {
    /// How many are asked about.
    static let customerCount = 1_000

    static let workload = Workload("check-hot", "CheckAccess of 1,000 customers") { run in
        .check(
            CheckScript(
                population: run.seed.checkPopulation(), selection: .hot(customerCount)))
    }
}
