internal import ToolSupport

/// A comparison as people and programs read it.
struct CompareReport: Sendable {
    let figures: CompareFigures
    /// Customers that every server held.
    let customerCount: Int
    /// Seconds of a run.
    let seconds: Double
    /// The machine and the day, as whoever started it describes them; empty = not said.
    let machine: String

    /// With fewer requests in flight a server sleeps between them, and a loop that never sleeps
    /// says nothing about it.
    private static let busyRequestCount = 256
    /// Between these lines of a text stands the table.
    static let beginMarker = "<!-- peers:begin -->"
    static let endMarker = "<!-- peers:end -->"

    private var roundCount: Int { figures.samples.joined().map(\.count).max() ?? 0 }

    /// The servers that are compared with the others: those of kind `entitled`.
    private var subjects: [Int] {
        figures.targets.indices.filter { figures.targets[$0].kind == .entitled }
    }

    /// The others.
    private var peers: [Int] {
        figures.targets.indices.filter { figures.targets[$0].kind != .entitled }
    }

    // MARK: Tables on a terminal

    /// Shape by shape what every server did, and the ratios to the first subject.
    var lines: [Line] {
        var lines: [Line] = []
        for (place, shape) in figures.shapes.enumerated() {
            let connections = shape.connectionCount == 1 ? "connection" : "connections"
            lines.append(
                Line("\(shape.connectionCount) \(connections) x \(shape.depth) in flight", .bold))
            lines += table(place).lines(indent: 2)
            lines.append("")
        }
        if !figures.storeLoopRates.isEmpty {
            lines.append(Line("a bare RocksDB, in process on one thread", .bold))
            lines.append(Line("  \(storeLoopText)"))
            lines.append("")
        }
        lines += figures.doubts.map { Line("warning: \($0)", .bad) }
        return lines
    }

    private func table(_ shape: Int) -> Table {
        let subject = subjects.first
        let name = subject.map { figures.targets[$0].name } ?? ""
        var table = Table([
            .text("server"), .number("answers/s"), .number("lowest"), .number("highest"),
            .number("p50 us"), .number("p99 us"), .number("generator"),
            .number("\(name) gives"), .number("lowest"), .number("highest"),
        ])
        for target in figures.targets.indices {
            let samples = figures.samples[shape][target]
            guard !samples.isEmpty else { continue }
            let rates = samples.map(\.answersPerSecond)
            let ratio = subject.flatMap { figures.ratio(shape: shape, of: $0, to: target) }
            func times(_ value: Double?) -> Table.Cell {
                Table.Cell(value.map { CompareRatio.times($0) + "x" } ?? "")
            }
            table.add([
                Table.Cell(figures.targets[target].name),
                whole(Figure.median(rates)), whole(rates.min() ?? 0), whole(rates.max() ?? 0),
                microseconds(samples.map(\.medianNanoseconds)),
                microseconds(samples.map(\.p99Nanoseconds)),
                Table.Cell(Figure.percent(Figure.median(samples.map(\.generatorBusyShare)))),
                times(ratio?.median), times(ratio?.lowest), times(ratio?.highest),
            ])
        }
        return table
    }

    private func whole(_ value: Double) -> Table.Cell {
        Table.Cell(Figure.whole(UInt64(max(0, value.rounded()))))
    }

    private func microseconds(_ nanoseconds: [UInt64]) -> Table.Cell {
        Table.Cell(Figure.microseconds(UInt64(Figure.median(nanoseconds.map { Double($0) }))))
    }

    private var storeLoopText: String {
        let rate = Figure.median(figures.storeLoopRates)
        return "\(Figure.rate(rate)), \(Figure.microseconds(UInt64(1e9 / max(rate, 1)))) us a get"
    }

    // MARK: Markdown

    /// The table of the README between its markers: per shape what `entitled` answers, and how many
    /// times as much that is as each peer's.
    var markdown: String {
        let names = peers.map { figures.targets[$0].name }
        var rows: [[String]] = [
            ["connections x in flight", "answers/s"] + names.map { "to \($0)" },
            ["---"] + Array(repeating: "---:", count: names.count + 1),
        ]
        for (place, shape) in figures.shapes.enumerated() {
            for subject in subjects where !figures.samples[place][subject].isEmpty {
                let rate = Figure.median(figures.rates(shape: place, target: subject))
                let name = figures.targets[subject].name
                let title = subject == subjects.first ? shape.title : "\(shape.title), \(name)"
                rows.append(
                    [title, Figure.whole(UInt64(rate.rounded()))]
                        + peers.map { peer in
                            figures.ratio(shape: place, of: subject, to: peer)?.text ?? "-"
                        })
            }
        }
        let table = rows.map { "| " + $0.joined(separator: " | ") + " |" }
        let paragraphs = [sentence] + storeLoopSentence
        return ([Self.beginMarker] + paragraphs.flatMap { [$0, ""] } + table + [Self.endMarker])
            .joined(separator: "\n") + "\n"
    }

    private var sentence: String {
        let place = machine.isEmpty ? "" : "\(machine). "
        return place + "Every server on one core, the same generator on another;"
            + " \(Figure.whole(UInt64(customerCount))) customers, every answer checked;"
            + " median (lowest to highest) of \(roundCount) interleaved rounds of"
            + " \(Figure.short(seconds)) s."
    }

    private var storeLoopSentence: [String] {
        guard !figures.storeLoopRates.isEmpty, let subject = subjects.first,
            let shape = figures.shapes.indices.last(where: {
                !figures.samples[$0][subject].isEmpty
                    && figures.shapes[$0].requestCount >= Self.busyRequestCount
            }),
            let ratio = CompareRatio(
                figures.rates(shape: shape, target: subject), to: figures.storeLoopRates)
        else { return [] }
        return [
            "A bare RocksDB get loop in one process does \(storeLoopText): at"
                + " \(figures.shapes[shape].title) the server answers \(ratio.text) as many checks."
        ]
    }

    // MARK: JSON

    /// Everything, round by round.
    var json: JSONValue {
        .object([
            ("machine", .optional(machine)), ("customers", .integer(Int64(customerCount))),
            ("seconds", .number(seconds)),
            ("shapes", .array(figures.shapes.indices.map(json))),
            ("rocksdbGetsPerSecond", .array(figures.storeLoopRates.map(JSONValue.number))),
            ("warnings", .array(figures.doubts.map(JSONValue.string))),
        ])
    }

    private func json(_ shape: Int) -> JSONValue {
        let servers = figures.targets.indices.filter { !figures.samples[shape][$0].isEmpty }
        return .object([
            ("connections", .integer(Int64(figures.shapes[shape].connectionCount))),
            ("depth", .integer(Int64(figures.shapes[shape].depth))),
            ("servers", .array(servers.map { json(shape, server: $0) })),
        ])
    }

    private func json(_ shape: Int, server: Int) -> JSONValue {
        let samples = figures.samples[shape][server]
        let ratio = subjects.first.flatMap { figures.ratio(shape: shape, of: $0, to: server) }
        var members: [(name: String, value: JSONValue)] = [
            ("name", .string(figures.targets[server].name)),
            ("kind", .string(figures.targets[server].kind.rawValue)),
            ("answersPerSecond", .array(samples.map { .number($0.answersPerSecond) })),
            ("p50Nanoseconds", .array(samples.map { .natural($0.medianNanoseconds) })),
            ("p99Nanoseconds", .array(samples.map { .natural($0.p99Nanoseconds) })),
            ("generatorBusyShare", .array(samples.map { .number($0.generatorBusyShare) })),
        ]
        if let ratio {
            members.append(
                (
                    "ratio",
                    .object([
                        ("median", .number(ratio.median)), ("lowest", .number(ratio.lowest)),
                        ("highest", .number(ratio.highest)),
                    ])
                ))
        }
        return .object(members)
    }
}
