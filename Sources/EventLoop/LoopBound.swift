/// Carries something that belongs to one loop's thread through code of other threads.
///
/// Taking it out anywhere else traps. Release is unchecked: drop it on its thread, or after it.
@safe package final class LoopBound<Value>: @unchecked Sendable {
    // Sound because `value` is reached only through the check below.
    private let content: Value
    private let thread = ThreadIdentity.current

    /// Binds `value` to the current thread.
    package init(_ value: Value) { content = value }

    /// The value. Traps off its thread.
    package var value: Value {
        precondition(thread == .current, "a loop's value was used off its thread")
        return content
    }
}
