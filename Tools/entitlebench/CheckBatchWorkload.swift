internal import LoadGenerator

/// Many checks in one request, of customers drawn as in `check-zipf`.
enum CheckBatchWorkload {
    static let workload = Workload(
        "check-batch", "CheckAccessBatch of --batch checks, zipfian"
    ) { run in
        .check(
            CheckScript(
                population: run.seed.checkPopulation(),
                selection: .zipf(exponent: CheckZipfWorkload.exponent),
                batchCount: run.options.batchCount))
    }
}
