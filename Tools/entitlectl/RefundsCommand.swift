internal import EntitledClient
internal import ToolSupport

/// `refunds report`: what refunded payments had been used for, by whom, and for how long after.
enum RefundsCommand {
    static let command = Command(
        words: ["refunds", "report"], operands: [],
        flags: [
            .value("by", "GROUP", "sum up by month or product [month]"),
            .value("from", "TIME", "refunded at this instant or later [the beginning]"),
            .value("to", "TIME", "refunded before this instant [now and later]"),
            .value("product", "ID", "of this product only"),
            .value("format", "FORM", "table, csv or json [that of --output]"),
            .value("chart", "FILE", "draw the months as well, into a .svg or .html file"),
        ],
        summary: "what refunded payments had been used for, by whom, and for how long after",
        details: [
            "One refund gives back one payment, and up to six people may have used it. Days are of",
            "UTC; use up to the day of the refund is served, what comes after that day has leaked.",
            "Money is in thousandths of its currency, costs are in millionths of yours; currencies",
            "are never added up. People and days of several refunds are sums over the refunds.",
            "CSV (RFC 4180): a line for each refund; with --by for each month or product and",
            "currency. The columns are named in the first line; unpaid is who never paid.",
            "JSON: refunds (transactionId, originalTransactionId, productId, customer,",
            "purchaseDate, refundedAt, learnedAt, purchaseUnknown, priceMilliunits,",
            "percentageMilliunits, currency, refundedMilliunits, peopleWithAccess, peopleServed,",
            "buyer, unpaid, leaked, peopleStillGranted, costMicros, people), by, totals (month or",
            "product, currency, refunds, and the same figures), sums (one for each currency).",
        ],
        examples: [
            ("entitlectl refunds report --from 2026-01-01 --to 2027-01-01", "a year, on screen"),
            ("entitlectl refunds report --format csv > refunds.csv", "for a spreadsheet"),
            ("entitlectl refunds report --chart refunds.html", "for those who would rather look"),
        ],
        body: run)

    private enum Format: String {
        case table, csv, json
    }

    @Sendable private static func run(
        _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let format = try format(invocation)
        let grouping = try grouping(invocation)
        let chart = try chartFile(invocation)
        let filter = RefundFilter(
            fromMilliseconds: try invocation.instant("from"),
            toMilliseconds: try invocation.instant("to"),
            productID: invocation.value("product") ?? "")
        let refunds = try await refunds(filter, invocation)
        let report = RefundReport(refunds, by: grouping ?? .month)
        if let chart {
            let drawing = RefundChart(report)
            try SystemCalls.writeFile(
                chart, Array((chart.hasSuffix(".html") ? drawing.html : drawing.svg).utf8))
            invocation.console.note("the chart is in \(chart)")
        }
        switch format {
        case .table:
            invocation.console.print(report.lines(columnCount: SystemCalls.columnCount))
        case .csv:
            invocation.console.page(grouping == nil ? report.refundsCSV : report.totalsCSV)
        case .json: invocation.console.print(report.json)
        }
        return .success
    }

    private static func refunds(
        _ filter: RefundFilter, _ invocation: Invocation
    ) async throws(CommandFailure) -> [RefundRecord] {
        let progress = Progress(console: invocation.console, noun: "refunds")
        let refunds = try await invocation.withClient { (client) throws(ClientError) in
            var refunds: [RefundRecord] = []
            for try await page in client.refundPages(filter, pageSize: 500) {
                refunds += page.entries
                progress.update(done: refunds.count, total: nil)
            }
            return refunds
        }
        progress.erase()
        return refunds
    }

    private static func format(_ invocation: Invocation) throws(CommandFailure) -> Format {
        guard let text = invocation.value("format") else {
            return invocation.isJSON ? .json : .table
        }
        guard let format = Format(rawValue: text) else {
            throw CommandFailure(.usage, "--format: `\(text)` is not table, csv or json")
        }
        return format
    }

    private static func grouping(
        _ invocation: Invocation
    ) throws(CommandFailure) -> RefundReport.Grouping? {
        guard let text = invocation.value("by") else { return nil }
        guard let grouping = RefundReport.Grouping(rawValue: text) else {
            throw CommandFailure(.usage, "--by: `\(text)` is not month or product")
        }
        return grouping
    }

    private static func chartFile(_ invocation: Invocation) throws(CommandFailure) -> String? {
        guard let file = invocation.value("chart") else { return nil }
        guard file.hasSuffix(".svg") || file.hasSuffix(".html") else {
            throw CommandFailure(.usage, "--chart: `\(file)` ends in neither .svg nor .html")
        }
        return file
    }
}
