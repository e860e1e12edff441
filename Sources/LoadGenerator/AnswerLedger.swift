/// What one connection has in flight, and the way from an answer to its latency.
///
/// A ring of four times the depth: a request stands at its number modulo the size. Answers may come
/// in any order; a number whose place is still taken by a slow one is left out.
///
/// One connection's, on its thread. `@unchecked Sendable` is not claimed: it never crosses.
@safe package struct AnswerLedger: ~Copyable {
    private struct Entry {
        /// 0 = nothing in flight here.
        var number: UInt64
        /// When it was meant to be sent, in nanoseconds.
        var intended: UInt64
        var subject: UInt64
    }

    private let ring: UnsafeMutablePointer<Entry>
    private let mask: UInt64
    private let tally: UnsafeMutablePointer<LoadTally>
    private var newest: UInt64 = 0
    private var oldestCandidate: UInt64 = 1
    /// Requests without an answer yet.
    package private(set) var inFlightCount = 0
    /// Why nothing that comes has a meaning any more; nil = all is well.
    package private(set) var failure: String?
    /// When the bytes at hand came, in nanoseconds; set by the driver before each `take`.
    var now: UInt64 = 0

    /// - Parameters:
    ///   - depth: how many may be in flight.
    ///   - tally: outlives this; the same thread's.
    init(depth: Int, tally: UnsafeMutablePointer<LoadTally>) {
        var capacity = 4
        while capacity < depth * 4 { capacity *= 2 }
        unsafe ring = .allocate(capacity: capacity)
        unsafe ring.initialize(
            repeating: Entry(number: 0, intended: 0, subject: 0), count: capacity)
        mask = UInt64(capacity - 1)
        unsafe self.tally = tally
    }

    deinit { unsafe ring.deallocate() }

    /// The number of the next request.
    func nextNumber() -> UInt64 {
        var number = newest + 1
        while unsafe ring[Int(number & mask)].number != 0 { number += 1 }
        return number
    }

    /// Notes a request as in flight.
    mutating func send(_ number: UInt64, intended: UInt64, subject: UInt64) {
        unsafe ring[Int(number & mask)] = Entry(
            number: number, intended: intended, subject: subject)
        newest = number
        inFlightCount += 1
    }

    /// An answer to request `number` came, with so many answers to checks in it: its latency is
    /// counted.
    ///
    /// - Returns: what `appendRequest` gave for it; nil when there is no such request in flight, or
    ///   it is answered already, which is counted as a wrong answer.
    @inline(__always)
    package mutating func answer(_ number: UInt64, checkCount: Int = 1) -> UInt64? {
        let place = unsafe ring + Int(number & mask)
        guard number != 0, unsafe place.pointee.number == number else {
            reportUnasked(number)
            return nil
        }
        unsafe place.pointee.number = 0
        inFlightCount -= 1
        unsafe tally.pointee.record(intended: place.pointee.intended, now: now, checkCount)
        return unsafe place.pointee.subject
    }

    /// The number that a request near the newest one has, from its lowest 28 bits.
    @inline(__always)
    package func number(lowBits: UInt64) -> UInt64 {
        let behind = (newest &- lowBits) & (1 << 28 - 1)
        return behind < newest ? newest - behind : 0
    }

    /// An answer came by a protocol that answers in order and sends no ids.
    ///
    /// - Returns: what `appendRequest` gave for the oldest request; nil, and a failure, when none
    ///   is in flight.
    package mutating func answerOldest(checkCount: Int = 1) -> UInt64? {
        while oldestCandidate <= newest {
            let number = oldestCandidate
            oldestCandidate += 1
            if unsafe ring[Int(number & mask)].number == number {
                return answer(number, checkCount: checkCount)
            }
        }
        fail("an answer came to no request")
        return nil
    }

    /// An answer was not what it had to be; the run fails, and shows this.
    ///
    /// - Parameters:
    ///   - what: one sentence.
    ///   - expected: the bytes that were expected, as far as they are known.
    ///   - found: the bytes that came.
    package mutating func reportWrong(_ what: String, expected: [UInt8], found: Span<UInt8>) {
        var bytes: [UInt8] = []
        for index in 0..<min(found.count, WrongAnswer.byteCountMax) { bytes.append(found[index]) }
        unsafe tally.pointee.wrong(WrongAnswer(what: what, expected: expected, found: bytes))
    }

    /// What comes has no meaning any more; the run ends.
    package mutating func fail(_ what: String) { if failure == nil { failure = what } }

    private func reportUnasked(_ number: UInt64) {
        unsafe tally.pointee.wrong(
            WrongAnswer(
                what: "an answer to request \(number), which is not in flight", expected: [],
                found: []))
    }
}

/// An answer that was not what it had to be.
package struct WrongAnswer: Equatable, Sendable {
    /// So much of an answer is kept, in bytes.
    package static let byteCountMax = 512

    /// One sentence.
    package var what: String
    /// The bytes that were expected, as far as they are known.
    package var expected: [UInt8]
    /// The bytes that came.
    package var found: [UInt8]

    /// A wrong answer; see the properties.
    package init(what: String, expected: [UInt8], found: [UInt8]) {
        self.what = what
        self.expected = expected
        self.found = found
    }
}
