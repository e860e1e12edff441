internal import TestSupport

/// What can go wrong in a simulation. Each seed switches a random part of them off: a fault that is
/// always there hides what happens only without it.
package enum FaultKind: String, CaseIterable, Sendable {
    /// Frames arrive in pieces, several frames in one piece.
    case chunks
    /// Bytes take long now and then, so connections overtake each other.
    case delays
    /// A connection stands still for seconds in the middle of a frame.
    case stalls
    /// Connections are reset, with what was on its way in both directions.
    case resets
    /// A client ends its output and goes on to listen.
    case halfCloses
    /// A client sends bytes that are no frames.
    case garbage
    /// A client takes its answers slowly, in small pieces.
    case slowReaders
    /// One sync takes up to a second.
    case slowSyncs
    /// Single writes of the store fail.
    case failedWrites
    /// Syncs fail after the batch has reached the log.
    case failedSyncs
    /// For some seconds no write is taken.
    case fullDisk
    /// The process dies, also in the middle of a commit, and starts again on what was durable.
    case crashes
    /// The process is asked to end: it drains, and another one starts.
    case drains
    /// The wall clock is set, forward and back.
    case clockSteps
    /// Days pass at once, for Apple as well.
    case passingDays
    /// The catalog is replaced.
    case reloads
    /// Memory holds a few snapshots only.
    case tinyCache
    /// Memory is never filled after a start.
    case coldStarts
    /// Three transactions are a long history.
    case longHistories
    /// A connection may claim next to nothing.
    case tightLimits
}

/// What clients do. Each seed leaves a random part of it out.
package enum OperationKind: String, CaseIterable, Sendable {
    case purchase
    case renewal
    case grace
    case upgrade
    case share
    case refund
    case proratedRefund
    case reversal
    case datedRevoke
    case datelessRevoke
    case rejoin
    case staleCopy
    case resend
    case upload
    case link
    case household
    case transfer
    case rebuild
    case check
    case checkByOtherNames
    case checkEntitlement
    case checkInstant
    case checkBatch
    case awaitRevision
    case getCustomer
    case serverInfo

    /// Whether it changes nothing.
    var isQuestion: Bool {
        switch self {
        case .check, .checkByOtherNames, .checkEntitlement, .checkInstant, .checkBatch,
            .awaitRevision, .getCustomer, .serverInfo:
            true
        default: false
        }
    }
}

/// All that one seed decides before the first event.
package struct SimulationPlan: Sendable {
    /// What everything is drawn from.
    package let seed: UInt64
    /// How many events happen before the faults stop and what is outstanding is settled.
    package var eventCount: Int
    /// What goes wrong.
    package var faults: Set<FaultKind>
    /// What clients do.
    package var operations: Set<OperationKind>
    /// A bug to plant; nil: none.
    package var canary: Canary?
    /// How many clients there are.
    package let clientCount: Int
    /// How many families of up to six people there are.
    package let familyCount: Int
    /// How many event loops the server has.
    package let loopCount: Int
    /// How many requests a client keeps in flight.
    package let pipelineCount: Int

    /// The plan of a seed.
    ///
    /// - Parameters:
    ///   - seed: Whatever it is, the same plan and run follow from it.
    ///   - eventCount: How many events happen before faults stop.
    ///   - canary: A bug to plant.
    package init(seed: UInt64, eventCount: Int, canary: Canary? = nil) {
        self.seed = seed
        self.eventCount = eventCount
        self.canary = canary
        var generator = SeededGenerator(seed: seed ^ 0x5EED_0F91_A450)
        // One seed in eight has no faults at all: then every answer is owed at once.
        let share = generator.oneIn(8) ? 0 : generator.number(2...6)
        faults = Self.part(share, of: FaultKind.allCases, &generator)
        operations = Self.part(generator.number(3...7), of: OperationKind.allCases, &generator)
        // Without any of these nothing would be seen of the rest.
        operations.formUnion([.purchase, .check])
        clientCount = generator.number(1...6)
        familyCount = generator.number(1...3)
        loopCount = generator.number(1...3)
        pipelineCount = generator.pick([1, 2, 4, 8, 16])
        if let canary { faults.formUnion(canary.neededFaults) }
        if let canary { operations.formUnion(canary.neededOperations) }
    }

    /// About `eighths` eighths of `all`.
    private static func part<Kind: Hashable>(
        _ eighths: Int, of all: [Kind], _ generator: inout SeededGenerator
    ) -> Set<Kind> {
        // The draw goes in the order of declaration, and the set is only asked for members.
        Set(all.filter { _ in generator.number(0...7) < eighths })
    }
}
