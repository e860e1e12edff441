internal import Synchronization

/// What a listener has counted since its start.
package struct HTTPListenerCounts: Hashable, Sendable {
    /// Connections that are open now.
    package var connections = 0
    /// Connections accepted.
    package var acceptedConnections = 0
    /// Connections refused: too many in all or from one address, or the listener is stopping.
    package var refusedConnections = 0
    /// Connections that had to go for newer ones.
    package var evictedConnections = 0
    /// Connections closed because a request was too slow or nothing came.
    package var timedOutConnections = 0
    /// Requests with a body beyond the limit.
    package var tooLargeRequests = 0
    /// Requests that could be read in two ways, or whose target is none. What the library refuses
    /// by itself, such as a broken first line, is counted nowhere.
    package var malformedRequests = 0
    /// Requests refused because too many waited or too much was buffered.
    package var overloadedRequests = 0
    /// Requests that ended before their response was sent whole.
    package var abortedRequests = 0
    /// Responses by the first digit of their status: 1xx at 0, 5xx at 4.
    package var responses = [0, 0, 0, 0, 0]

    /// Nothing yet.
    package init() {}
}

/// The counters behind `HTTPListenerCounts`. Relaxed: they order nothing.
final class ListenerCounters: Sendable {
    /// One relaxed counter.
    final class Count: Sendable {
        private let count = Atomic(0)

        func increase() { count.add(1, ordering: .relaxed) }
        var value: Int { count.load(ordering: .relaxed) }
    }

    let acceptedConnections = Count()
    let refusedConnections = Count()
    let evictedConnections = Count()
    let timedOutConnections = Count()
    let tooLargeRequests = Count()
    let malformedRequests = Count()
    let overloadedRequests = Count()
    let abortedRequests = Count()
    private let responses = [Count(), Count(), Count(), Count(), Count()]

    /// Counts a response.
    func answered(_ status: Int) {
        if (100..<600).contains(status) { responses[status / 100 - 1].increase() }
    }

    func counts(openConnections: Int) -> HTTPListenerCounts {
        var counts = HTTPListenerCounts()
        counts.connections = openConnections
        counts.acceptedConnections = acceptedConnections.value
        counts.refusedConnections = refusedConnections.value
        counts.evictedConnections = evictedConnections.value
        counts.timedOutConnections = timedOutConnections.value
        counts.tooLargeRequests = tooLargeRequests.value
        counts.malformedRequests = malformedRequests.value
        counts.overloadedRequests = overloadedRequests.value
        counts.abortedRequests = abortedRequests.value
        counts.responses = responses.map(\.value)
        return counts
    }
}
