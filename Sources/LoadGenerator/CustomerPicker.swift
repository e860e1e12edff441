internal import Glibc

/// Draws the customers that a connection asks about.
package struct CustomerPicker: Sendable {
    private let count: UInt64
    private let zipf: ZipfSampler?
    /// Strews ranks over the population; without a divisor in common with its size, so that every
    /// rank has a customer of its own.
    private let stride: UInt64

    /// Draws from a population of at least one customer.
    package init(_ selection: CustomerSelection, customerCount: Int) {
        precondition(customerCount > 0)
        switch selection {
        case .uniform:
            count = UInt64(customerCount)
            zipf = nil
        case .hot(let hotCount):
            count = UInt64(max(1, min(hotCount, customerCount)))
            zipf = nil
        case .zipf(let exponent):
            count = UInt64(customerCount)
            zipf = ZipfSampler(count: customerCount, exponent: exponent)
        }
        stride = Self.stride(for: UInt64(customerCount))
    }

    /// The index of the next customer.
    @inline(__always)
    package func next(_ random: inout RandomSource) -> UInt64 {
        guard let zipf else { return random.below(count) }
        let rank = zipf.next(&random) - 1
        let (high, low) = rank.multipliedFullWidth(by: stride)
        return high == 0 ? low % count : count.dividingFullWidth((high % count, low)).remainder
    }

    /// A prime near the golden section of 2^32, or the next number that shares no divisor.
    private static func stride(for count: UInt64) -> UInt64 {
        var stride: UInt64 = 2_654_435_761
        while greatestCommonDivisor(stride, count) != 1 { stride += 2 }
        return stride
    }

    private static func greatestCommonDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var (left, right) = (left, right)
        while right != 0 { (left, right) = (right, left % right) }
        return left
    }
}

/// Draws ranks from 1 to a count, rank k with a probability in proportion to 1 / k^exponent.
///
/// Rejection-inversion: exact, no tables, about 1.1 draws of two logarithms each per rank, 50 ns.
/// A table of ten million sums would be 80 MB that the generator would read in place of the server.
///
/// See: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", 1996.
struct ZipfSampler: Sendable {
    private let count: Double
    private let exponent: Double
    private let integralOfFirst: Double
    private let integralOfLast: Double
    private let threshold: Double

    /// - Precondition: at least one rank, and an exponent more than 0.
    init(count: Int, exponent: Double) {
        precondition(count >= 1 && exponent > 0)
        self.count = Double(count)
        self.exponent = exponent
        integralOfFirst = Self.integral(1.5, exponent) - 1
        integralOfLast = Self.integral(Double(count) + 0.5, exponent)
        threshold =
            2
            - Self.inverse(Self.integral(2.5, exponent) - Self.weight(2, exponent), exponent)
    }

    /// The next rank.
    func next(_ random: inout RandomSource) -> UInt64 {
        while true {
            let area =
                integralOfLast + random.fraction() * (integralOfFirst - integralOfLast)
            let position = Self.inverse(area, exponent)
            let rank = min(max((position + 0.5).rounded(.down), 1), count)
            if rank - position <= threshold
                || area >= Self.integral(rank + 0.5, exponent) - Self.weight(rank, exponent)
            {
                return UInt64(rank)
            }
        }
    }

    private static func weight(_ rank: Double, _ exponent: Double) -> Double {
        exp(-exponent * log(rank))
    }

    /// The integral of the weight up to `position`, but for a constant.
    private static func integral(_ position: Double, _ exponent: Double) -> Double {
        let logarithm = log(position)
        return growth((1 - exponent) * logarithm) * logarithm
    }

    /// The inverse of `integral`.
    private static func inverse(_ area: Double, _ exponent: Double) -> Double {
        let scaled = max(-1, area * (1 - exponent))
        return exp(shrinkage(scaled) * area)
    }

    /// (exp(x) - 1) / x, which is 1 at 0.
    private static func growth(_ value: Double) -> Double {
        value.magnitude > 1e-8 ? expm1(value) / value : 1 + value / 2
    }

    /// log(1 + x) / x, which is 1 at 0.
    private static func shrinkage(_ value: Double) -> Double {
        value.magnitude > 1e-8 ? log1p(value) / value : 1 - value / 2
    }
}
