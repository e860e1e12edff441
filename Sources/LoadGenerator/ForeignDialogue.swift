package import Wire

/// A dialogue of another module: one object per connection, on that connection's thread.
///
/// The driver calls it through its protocol, which costs two indirect calls per request. That is
/// nothing beside a signature or a scan; what is driven at millions per second has a dialogue of
/// its own in this module.
package protocol ForeignDialogue: AnyObject {
    /// Appends one request; see `LoadDialogue.appendRequest`.
    func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64

    /// Takes the whole answers at the front of `input`; see `LoadDialogue.take`.
    func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int
}

/// A dialogue of another module, for the driver.
struct ForeignAdapter: LoadDialogue {
    private let base: any ForeignDialogue

    init(_ base: any ForeignDialogue) { self.base = base }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        base.appendRequest(number, to: &output)
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        base.take(input, &ledger, to: &output)
    }
}
