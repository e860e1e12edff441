internal import LoadGenerator

/// All customers, some of them far more often than others: what a server sees all day.
enum CheckZipfWorkload {
    /// That of YCSB: of 20,000 customers the most popular hundredth gets more than half.
    static let exponent = 0.99

    static let workload = Workload(
        "check-zipf", "CheckAccess of all customers, zipfian (s = 0.99)"
    ) { run in
        .check(
            CheckScript(
                population: run.seed.checkPopulation(), selection: .zipf(exponent: exponent)))
    }
}
