/// What is said to a server that `entitled` is compared with.
///
/// The server holds `customerCount` customers, under names and with values that follow from their
/// numbers; every answer is compared with them.
package struct PeerScript: Equatable, Sendable {
    /// A server's protocol.
    package enum Peer: String, CaseIterable, Equatable, Sendable {
        /// GET.
        case redis
        /// get, in the text protocol.
        case memcached
        /// A prepared SELECT by primary key.
        case postgresql
        /// CheckAccess as a unary call.
        case grpc
    }

    /// Numbers of customers have at most eight digits.
    package static let customerCountMax = 100_000_000

    /// The protocol.
    package var peer: Peer
    /// Customers that the server holds, 1 to `customerCountMax`.
    package var customerCount: Int

    /// A script.
    package init(peer: Peer, customerCount: Int) {
        precondition((1...Self.customerCountMax).contains(customerCount))
        self.peer = peer
        self.customerCount = customerCount
    }

    /// Runs `plan` on the calling thread's share of the connections; specialised for each dialogue.
    func drive(
        _ share: ThreadShare, _ plan: LoadPlan, _ board: LoadBoard
    ) throws(LoadError) -> ThreadOutcome {
        switch peer {
        case .redis:
            try LoadDriver.run(share, plan, board) { PeerRedis(customers(at: $0)) }
        case .memcached:
            try LoadDriver.run(share, plan, board) { PeerMemcached(customers(at: $0)) }
        case .postgresql:
            try LoadDriver.run(share, plan, board) { PeerPostgreSQL(customers(at: $0)) }
        case .grpc:
            try LoadDriver.run(share, plan, board) {
                PeerGRPC(customers(at: $0), customerCount: customerCount, depth: plan.depth)
            }
        }
    }

    private func customers(at place: ConnectionPlace) -> PeerCustomers {
        PeerCustomers(count: customerCount, place: place)
    }
}
