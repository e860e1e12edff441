/// The upright axis of a diagram: round numbers from 0 on.
package struct ChartAxis: Equatable, Sendable {
    /// In the numbers of the bars, ascending from 0; the last one is at least the largest bar.
    package let ticks: [Int64]
    private let scale: Int64

    /// At most five steps, each 1, 2 or 5 times a power of ten.
    ///
    /// - Parameters:
    ///   - maximum: the largest bar.
    ///   - scale: how many of the bars' numbers make one on the axis: 1 or 1,000.
    package init(maximum: Int64, scale: Int64) {
        self.scale = scale
        let maximum = max(1, min(maximum, .max / 20))
        var power: Int64 = 1
        while power * 5 < maximum / 5 { power *= 10 }
        let factors: [Int64] = [1, 2, 5, 10]
        let step = factors.map { $0 * power }.first { $0 * 5 >= maximum } ?? maximum
        let count = (maximum + step - 1) / step
        ticks = (0...count).map { $0 * step }
    }

    /// How high a number stands, from 0 to 1.
    package func fraction(of value: Int64) -> Double {
        guard let top = ticks.last, top > 0 else { return 0 }
        return min(1, Double(value) / Double(top))
    }

    /// What stands beside a tick: no decimals where none of them needs any.
    package func label(of tick: Int64) -> String {
        let isWhole = ticks.allSatisfy { $0.isMultiple(of: scale) }
        return isWhole ? "\(tick / scale)" : text(of: tick)
    }

    /// A number of the bars, exactly.
    package func text(of value: Int64) -> String {
        scale == 1 ? "\(value)" : Amount.thousandths(value)
    }
}
