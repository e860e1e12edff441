import Testing
import Wire

@testable import EntitledClient

@Suite struct FlightQueueTests {
    private func flight(notBefore: UInt64 = 0) -> Flight {
        let call = Call(request: .getServerInfo, timeout: .seconds(5), isRepeatable: true)
        let flight = Flight(call)
        flight.notBeforeMilliseconds = notBefore
        return flight
    }

    @Test func `flights leave in the order in which they came`() {
        var queue = FlightQueue()
        let flights = (0..<10).map { _ in flight() }
        for flight in flights { queue.append(flight) }
        for flight in flights { #expect(queue.popFirst(readyAt: 0) === flight) }
        #expect(queue.isEmpty)
        #expect(queue.popFirst(readyAt: 0) == nil)
    }

    @Test func `one that must wait is passed by until its time has come`() {
        var queue = FlightQueue()
        let (late, early) = (flight(notBefore: 100), flight())
        queue.append(late)
        queue.append(early)
        #expect(queue.popFirst(readyAt: 99) === early)
        #expect(queue.popFirst(readyAt: 99) == nil)
        #expect(!queue.isEmpty && !queue.hasReady(at: 99) && queue.hasReady(at: 100))
        #expect(queue.popFirst(readyAt: 100) === late)
    }

    @Test func `those whose callers wait no more are forgotten`() {
        var queue = FlightQueue()
        let flights = (0..<4).map { _ in flight() }
        for flight in flights { queue.append(flight) }
        _ = queue.popFirst(readyAt: 0)
        flights[2].call.answer(.failure(.cancelled))
        queue.dropAnswered()
        #expect(
            queue.all.map(ObjectIdentifier.init)
                == [flights[1], flights[3]].map(ObjectIdentifier.init))
    }
}
