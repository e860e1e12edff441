import TestSupport
import Testing

@testable import Simulation

@Suite struct PopulationTests {
    @Test func `the family of a chain follows from its number`() {
        var generator = SeededGenerator(seed: 4)
        var population = Population(familyCount: 3, &generator)
        for _ in 0..<60 {
            let person = population.randomPerson(&generator)
            let copy = population.begin(
                .month, of: person, isShared: false, from: 1, to: 2, carriesToken: false, at: 5)
            #expect(copy.chain % 3 == Population.family(of: person))
            #expect(copy.number == copy.chain)
            #expect(population.people.contains(person))
        }
        #expect(Set(population.chains.map(\.number)).count == 60)
    }

    @Test func `no two copies are signed at the same moment`() {
        var generator = SeededGenerator(seed: 4)
        var population = Population(familyCount: 1, &generator)
        let first = population.begin(
            .month, of: 0, isShared: false, from: 1, to: 2, carriesToken: true, at: 5)
        let next = population.extend(0, with: .pro, from: 2, to: 3, at: 5)
        let again = population.resign(0, 0, at: 5) { $0.revoked = 4 }
        #expect([first.signed, next.signed, again.signed] == [5, 6, 7])
        #expect(again.number == first.number && again.revoked == 4)
        #expect(next.chain == first.chain && next.number != first.number)
        #expect(population.chains[0].newest == next)
        #expect(population.copies.count == 3)
    }
}
