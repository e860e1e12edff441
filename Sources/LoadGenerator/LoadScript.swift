/// What is said on every connection of a run: one case per dialogue of this module.
package enum LoadScript: Sendable {
    /// Frames of the same bytes to a server that answers each with the same bytes.
    case echo(EchoScript)
    /// Look-ups of one value each, to a server that `entitled` is compared with.
    case peer(PeerScript)
    /// Checks of a population, every answer compared.
    case check(CheckScript)
    /// What another module says; called on the thread of the connection that it makes one for.
    case foreign(@Sendable (ConnectionPlace) -> any ForeignDialogue)

    /// Runs `plan` on the calling thread's share of the connections.
    ///
    /// The only place where the driver meets the dialogues: here it is specialised for each.
    func drive(
        _ share: ThreadShare, _ plan: LoadPlan, _ board: LoadBoard
    ) throws(LoadError) -> ThreadOutcome {
        switch self {
        case .echo(let script):
            try LoadDriver.run(share, plan, board) { _ in EchoDialogue(script) }
        case .peer(let script): try script.drive(share, plan, board)
        case .check(let script) where script.batchCount > 1:
            try LoadDriver.run(share, plan, board) { CheckBatchDialogue(script, $0) }
        case .check(let script):
            try LoadDriver.run(share, plan, board) { CheckDialogue(script, $0) }
        case .foreign(let make):
            try LoadDriver.run(share, plan, board) { ForeignAdapter(make($0)) }
        }
    }
}
