/// Flights that wait to be sent, first in, first out; one that must wait longer is passed by.
struct FlightQueue {
    private var flights: [Flight] = []
    /// Flights before it are taken already.
    private var head = 0

    /// Whether nothing waits.
    var isEmpty: Bool { head == flights.count }

    /// What waits, in order.
    var all: ArraySlice<Flight> { flights[head...] }

    /// Whether a flight waits that need not wait any more.
    func hasReady(at nowMilliseconds: UInt64) -> Bool {
        flights[head...].contains { $0.notBeforeMilliseconds <= nowMilliseconds }
    }

    /// Adds a flight at the end.
    mutating func append(_ flight: Flight) { flights.append(flight) }

    /// Takes the first flight that need not wait any more.
    mutating func popFirst(readyAt nowMilliseconds: UInt64) -> Flight? {
        guard
            let index = flights[head...].firstIndex(where: {
                $0.notBeforeMilliseconds <= nowMilliseconds
            })
        else { return nil }
        let flight = flights[index]
        if index == head {
            head += 1
            // Moving the rest down only when half of the array is spent costs O(1) a flight.
            if head * 2 >= flights.count {
                flights.removeFirst(head)
                head = 0
            }
        } else {
            flights.remove(at: index)
        }
        return flight
    }

    /// Forgets the flights whose callers wait no more.
    mutating func dropAnswered() {
        flights = flights[head...].filter { !$0.call.isAnswered }
        head = 0
    }
}
