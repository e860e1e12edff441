package import Wire

/// What one connection of the generator says, and how it understands what comes back.
///
/// One value per connection, on that connection's thread. The driver is generic over it and is
/// specialised for each type only inside this module: a protocol of a peer is a type here, offered
/// to other modules as a case of `LoadScript`.
///
/// Everything is appended to a buffer that leaves by one write; everything that came with one read
/// is taken by one call.
package protocol LoadDialogue: ~Copyable {
    /// Whether something is to be said and answered before the first request.
    var hasGreeting: Bool { get }

    /// Appends what is said once, at the start.
    mutating func appendGreeting(to output: inout OutputBuffer)

    /// Takes what comes before the first request may be sent.
    ///
    /// `output` takes what must be said to that.
    mutating func takeGreeting(
        _ input: Span<UInt8>, to output: inout OutputBuffer
    ) -> GreetingStep

    /// Appends one request. `number` is more than 0 and more than that of every request before; a
    /// protocol with ids sends it along, those in flight differ in their lowest 28 bits.
    ///
    /// - Returns: what the dialogue wants to be told when the answer comes, e.g. whom it asked for.
    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64

    /// Takes the whole answers at the front of `input`, each checked, and tells `ledger` of each:
    /// `answer` or `answerOldest` exactly once per answer, `reportWrong` for a wrong one, `fail`
    /// when the rest means nothing any more.
    ///
    /// `output` takes what the protocol has to say besides requests (acknowledgements, credit).
    ///
    /// - Returns: how many bytes were taken; the rest comes again, with more behind it.
    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int
}

/// How far a greeting has come.
package enum GreetingStep: Equatable, Sendable {
    /// More must come; so many bytes were taken.
    case more(consumed: Int)
    /// Requests may be sent; so many bytes were taken.
    case done(consumed: Int)
    /// The peer does not want us, with its words.
    case refused(String)
}

extension LoadDialogue where Self: ~Copyable {
    /// Most protocols begin with a request.
    package var hasGreeting: Bool { false }

    /// Nothing.
    package mutating func appendGreeting(to output: inout OutputBuffer) {}

    /// Done at once.
    package mutating func takeGreeting(
        _ input: Span<UInt8>, to output: inout OutputBuffer
    ) -> GreetingStep { .done(consumed: 0) }
}

/// Which of all connections a dialogue is made for.
package struct ConnectionPlace: Equatable, Sendable {
    /// From 0, over all threads.
    package let index: Int
    /// How many there are.
    package let count: Int
    /// The seed of the run; the same seed and place draw the same requests.
    package let seed: UInt64

    /// A place among the connections of a run.
    package init(index: Int, count: Int, seed: UInt64) {
        self.index = index
        self.count = count
        self.seed = seed
    }

    /// A source of random numbers that is this connection's own.
    var random: RandomSource {
        RandomSource(seed: seed &+ UInt64(index) &* 0xD1B5_4A32_D192_ED03)
    }
}
