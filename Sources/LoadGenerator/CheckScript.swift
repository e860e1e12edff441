/// Checks, one per request or many.
package struct CheckScript: Sendable {
    /// Whom to ask about, and what must be answered.
    package var population: CheckPopulation
    /// Who is asked about how often.
    package var selection: CustomerSelection
    /// Checks in one request; 1 = a plain `CheckAccess`, more = a `CheckAccessBatch`.
    package var batchCount: Int

    /// A script; `batchCount` is from 1 to the 1,000 that a server takes.
    package init(
        population: CheckPopulation, selection: CustomerSelection, batchCount: Int = 1
    ) {
        precondition((1...1_000).contains(batchCount))
        self.population = population
        self.selection = selection
        self.batchCount = batchCount
    }
}

/// Who of a population is asked about how often.
package enum CustomerSelection: Equatable, Sendable {
    /// Everybody equally often.
    case uniform
    /// The first so many, equally often.
    case hot(Int)
    /// As people behave: the one of rank k about as often as 1 / k^exponent says. Ranks are strewn
    /// over the population, so that the popular ones are no neighbours.
    case zipf(exponent: Double)
}
