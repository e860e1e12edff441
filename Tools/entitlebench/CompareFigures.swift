/// What one round with one server gave.
struct CompareSample: Equatable, Sendable {
    /// Answers per second.
    var answersPerSecond: Double
    /// Latencies, in nanoseconds.
    var medianNanoseconds: UInt64
    var p99Nanoseconds: UInt64
    /// How much of its processor the generator used, from 0 to 1.
    var generatorBusyShare: Double
}

/// How many times as many answers one server gives as another: of every round the ratio of the two
/// runs in it, which were a second apart, so that what the machine did meanwhile falls out.
struct CompareRatio: Equatable, Sendable {
    let median: Double
    let lowest: Double
    let highest: Double

    /// Nil without a round.
    init?(_ rates: [Double], to others: [Double]) {
        let ratios = zip(rates, others).filter { $0.1 > 0 }.map { $0.0 / $0.1 }
        guard let lowest = ratios.min(), let highest = ratios.max() else { return nil }
        median = Figure.median(ratios)
        self.lowest = lowest
        self.highest = highest
    }

    /// `4.13x (3.90 to 4.61)`.
    var text: String { "\(Self.times(median))x (\(Self.times(lowest)) to \(Self.times(highest)))" }

    /// Three digits that mean something.
    static func times(_ value: Double) -> String {
        Figure.fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0)
    }
}

/// All rounds of a comparison.
struct CompareFigures: Equatable, Sendable {
    /// Servers, in the order of the tables; the first of kind `entitled` is what is compared.
    let targets: [CompareTarget]
    let shapes: [CompareShape]
    /// Rounds by shape and server, both by their places above.
    private(set) var samples: [[[CompareSample]]]
    /// Gets per second of a bare RocksDB loop, round by round; empty = not measured.
    var storeLoopRates: [Double] = []

    /// Two rounds of one server further apart than this say more about the machine than about it.
    static let spreadMax = 2.0

    /// No rounds yet.
    init(targets: [CompareTarget], shapes: [CompareShape]) {
        self.targets = targets
        self.shapes = shapes
        samples = Array(
            repeating: Array(repeating: [], count: targets.count), count: shapes.count)
    }

    /// Adds a round.
    mutating func add(_ sample: CompareSample, shape: Int, target: Int) {
        samples[shape][target].append(sample)
    }

    /// Answers per second, round by round.
    func rates(shape: Int, target: Int) -> [Double] {
        samples[shape][target].map(\.answersPerSecond)
    }

    /// How many times as many answers `target` gives as `other`; nil when one of them was not
    /// driven so.
    func ratio(shape: Int, of target: Int, to other: Int) -> CompareRatio? {
        CompareRatio(
            rates(shape: shape, target: target), to: rates(shape: shape, target: other))
    }

    /// Shapes and servers whose rounds are too far apart for a figure, as sentences.
    ///
    /// Redis is the yardstick where it is there: how a server of ours spreads may be its own fault.
    var doubts: [String] {
        let yardstick = targets.firstIndex { $0.kind == .redis } ?? 0
        guard targets.indices.contains(yardstick) else { return [] }
        return shapes.indices.compactMap { shape in
            let rates = rates(shape: shape, target: yardstick)
            guard let lowest = rates.min(), let highest = rates.max(),
                highest > lowest * Self.spreadMax
            else { return nil }
            return "\(shapes[shape].title): rounds of \(targets[yardstick].name) lie from"
                + " \(Figure.rate(lowest)) to \(Figure.rate(highest)): the machine was busy with"
                + " something else, and these figures mean little"
        }
    }
}
