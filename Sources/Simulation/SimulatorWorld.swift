internal import Service
internal import Storage
internal import TestSupport

// The machine, the network and the faults around clients and server.

extension Simulator: ServerSurroundings, ClientSurroundings {
    var nowMilliseconds: Int64 { clock.nowMilliseconds }

    // MARK: The server's side

    func schedule(_ task: ServerTask, after milliseconds: Int64) {
        queue.insert(
            .server(incarnation: incarnation, task), at: nowMilliseconds + milliseconds)
    }

    func write(_ bytes: [UInt8], on connection: Int) -> Int {
        guard let link = network.link(connection), !link.isBroken else { return bytes.count }
        let room = min(bytes.count, link.windowByteCount - link.unreadByteCount)
        // As TCP does, it waits for room that is worth a segment, or bytes would go one by one.
        guard room > 0, room >= min(bytes.count, link.windowByteCount / 2) else { return 0 }
        network.change(connection) { $0.unreadByteCount += room }
        for piece in network.segments(of: Array(bytes.prefix(room))) {
            sendToClient(.bytes(piece), on: connection)
        }
        return room
    }

    func endOutput(of connection: Int) { sendToClient(.end, on: connection) }

    func close(_ connection: Int) { sendToClient(.end, on: connection) }

    private func sendToClient(_ segment: Segment, on connection: Int) {
        guard let link = network.link(connection), !link.isBroken else { return }
        let arrival = network.arrival(after: link.toClientArrival, at: nowMilliseconds)
        network.change(connection) { $0.toClientArrival = arrival }
        queue.insert(.toClient(connection, segment), at: arrival)
    }

    func nextSync() -> (milliseconds: Int64, fate: CrashingStore.Fate) {
        var milliseconds = Int64(generator.number(1...3))
        if network.has(.slowSyncs), generator.oneIn(8) {
            milliseconds = Int64(generator.number(20...1_000))
        }
        var fate = CrashingStore.Fate.succeed
        if network.has(.failedWrites), generator.oneIn(30) { fate = .failWrite }
        if network.has(.failedSyncs), generator.oneIn(30) { fate = .failSync }
        if network.has(.crashes), generator.oneIn(120) {
            fate = .crash(isKept: generator.oneIn(2))
        }
        if case .succeed = fate { return (milliseconds, fate) }
        faultCount += 1
        return (milliseconds, fate)
    }

    // MARK: The clients' side

    func send(_ bytes: [UInt8], on connection: Int) {
        guard let link = network.link(connection), !link.isBroken else { return }
        for piece in network.segments(of: bytes) {
            let last = network.link(connection)?.toServerArrival ?? 0
            let arrival = network.arrival(after: last, at: nowMilliseconds)
            // What is so late that a frame is given up may be answered with id 0.
            let isLate = arrival > nowMilliseconds + 1_500
            network.change(connection) {
                $0.toServerArrival = arrival
                if isLate { $0.isTainted = true }
            }
            queue.insert(.toServer(connection, .bytes(piece)), at: arrival)
        }
    }

    func act(_ client: SimulatedClient) {
        let pause = phase == .turmoil ? Int64(generator.number(0...30)) : 10
        queue.insert(.client(client.index), at: nowMilliseconds + max(1, pause))
        guard client.connection != nil else { return connect(client) }
        breakSomething(on: client)
        guard client.hasRoom, let connection = client.connection,
            network.link(connection)?.clientHasEnded == false
        else { return }
        if phase == .turmoil { for _ in 0..<generator.number(0...1) { workload.act() } }
        let inquiries = nextInquiries(of: client)
        if !inquiries.isEmpty { client.ask(inquiries) }
    }

    private func nextInquiries(of client: SimulatedClient) -> [Inquiry] {
        var inquiries: [Inquiry] = []
        let room = plan.pipelineCount - client.asked.count
        for _ in 0..<generator.number(1...room) {
            if let write = workload.takeTrial({ !isBusy(with: $0) }) {
                inquiries.append(.write(write))
            } else if phase == .turmoil, !workload.population.people.isEmpty {
                inquiries.append(workload.randomInquiry())
            } else if phase == .final, !finalInquiries.isEmpty {
                inquiries.append(finalInquiries.removeFirst())
            }
        }
        return inquiries
    }

    /// Whether anything that was sent on a connection may still be carried out.
    private func isBusy(with connection: Int) -> Bool {
        network.link(connection)?.isBroken == false || server?.isBusy(with: connection) == true
    }

    private func connect(_ client: SimulatedClient) {
        guard let server, !server.isDraining else { return }
        let connection = network.open(for: client.index, at: nowMilliseconds)
        client.connected(connection)
        note("client \(client.index) connects as \(connection)")
        server.accept(connection)
    }

    private func disconnect(_ client: SimulatedClient) {
        guard let connection = client.connection else { return }
        network.change(connection) { $0.isBroken = true }
        client.disconnected()
    }

    /// What a client or the network does to a connection now and then.
    private func breakSomething(on client: SimulatedClient) {
        guard let connection = client.connection else { return }
        if network.has(.resets), network.oneIn(150) {
            note("connection \(connection) is reset")
            faultCount += 1
            disconnect(client)
            let delay = Int64(network.number(0...300))
            queue.insert(.toServer(connection, .reset), at: nowMilliseconds + delay)
        } else if network.has(.halfCloses), network.oneIn(150) {
            note("client \(client.index) ends its output")
            faultCount += 1
            let arrival = network.link(connection)?.toServerArrival ?? 0
            network.change(connection) { $0.clientHasEnded = true }
            queue.insert(
                .toServer(connection, .end), at: max(arrival, nowMilliseconds))
        } else if network.has(.garbage), network.oneIn(300) {
            note("client \(client.index) sends garbage")
            faultCount += 1
            network.change(connection) { $0.isTainted = true }
            send([0, 0, 0, 2, 0xFF, 0xFF], on: connection)
        }
    }

    // MARK: Arrivals

    func arrive(_ segment: Segment, atServerOn connection: Int) {
        guard let link = network.link(connection) else { return }
        // A broken connection brings its breaking, and nothing else.
        if link.isBroken {
            guard case .reset = segment else { return }
        }
        server?.received(segment, on: connection)
        if store.hasCrashed { crash() }
    }

    func arrive(_ segment: Segment, atClientOn connection: Int) {
        guard let link = network.link(connection), !link.isBroken else { return }
        let client = clients[link.client]
        guard client.connection == connection else { return }
        switch segment {
        case .bytes(let bytes):
            client.received(bytes, isTainted: link.isTainted)
            let isSlow = link.windowByteCount < 1 << 20
            let delay = isSlow ? Int64(network.number(0...40)) : 0
            queue.insert(
                .clientTakes(connection, byteCount: bytes.count), at: nowMilliseconds + delay)
        case .end, .reset:
            note("connection \(connection) ends")
            // A server ends a connection for a reason only.
            let isSlow = link.windowByteCount < 1 << 20
            if !link.isTainted, !link.clientHasEnded, !isSlow, !plan.faults.contains(.drains) {
                auditor.report("closed", "connection \(connection) was closed for no reason")
            }
            disconnect(client)
            queue.insert(.toServer(connection, .reset), at: nowMilliseconds + 1)
        }
    }

    func take(_ byteCount: Int, on connection: Int) {
        network.change(connection) { $0.unreadByteCount -= byteCount }
        server?.drained(connection)
    }

    // MARK: The process

    func start() {
        guard server == nil else { return }
        incarnation += 1
        do throws(ServiceStartError) {
            server = try SimulatedServer(
                plan, store: store, mint: mint, clock: clock, catalog: catalog,
                seed: plan.seed ^ UInt64(incarnation) &* 0xC0FF_EE11,
                tampering: AnswerTampering(plan.canary, seed: plan.seed &+ UInt64(incarnation)),
                in: self)
            note("server \(incarnation) serves")
        } catch {
            // A disk that takes no writes keeps a server from starting for the first time.
            note("server \(incarnation) does not start")
            queue.insert(.start, at: nowMilliseconds + 100)
            return
        }
        guard !plan.faults.contains(.coldStarts) else { return }
        queue.insert(
            .warm(incarnation: incarnation), at: nowMilliseconds + Int64(generator.number(0...200)))
    }

    func warm(_ made: Int) {
        guard made == incarnation, let server else { return }
        do throws(StorageError) {
            try server.service.warm()
        } catch {
            auditor.report("warming", "\(error)")
        }
    }

    func serverEnded() {
        note("server \(incarnation) ends")
        server = nil
        store.restart()
        queue.insert(.start, at: nowMilliseconds + Int64(generator.number(1...300)))
    }

    /// The process dies with all its connections; what it was writing may be on disk or not.
    func crash() {
        guard let server else { return }
        crashCount += 1
        if !store.hasCrashed, !server.group.isEmpty, generator.oneIn(2) {
            store.decide(.crash(isKept: generator.oneIn(2)))
            server.commitGroup()
        }
        note("server \(incarnation) dies")
        self.server = nil
        store.restart()
        for client in clients { disconnect(client) }
        queue.insert(.start, at: nowMilliseconds + Int64(generator.number(1...300)))
    }

    // MARK: Faults of the machine

    func nextFault() {
        guard phase == .turmoil else { return }
        queue.insert(.fault, at: nowMilliseconds + Int64(generator.number(20...1_500)))
        let possible = [
            FaultKind.crashes, .fullDisk, .clockSteps, .passingDays, .reloads, .drains,
        ].filter { plan.faults.contains($0) }
        guard !possible.isEmpty else { return }
        let fault = generator.pick(possible)
        // Crashes come often enough through commits.
        if fault == .crashes || fault == .drains, !generator.oneIn(4) { return }
        faultCount += 1
        note("fault: \(fault)")
        switch fault {
        case .crashes: crash()
        case .fullDisk:
            store.setDiskFull(true)
            queue.insert(.diskHasRoom, at: nowMilliseconds + Int64(generator.number(50...4_000)))
        case .drains: server?.drain()
        case .clockSteps: clock.step(by: Int64(generator.number(-30_000...30_000)))
        case .passingDays where generator.oneIn(6):
            clock.step(by: 90_000_000)
            workload.appleOffset += 90_000_000
        case .reloads: reload()
        default: break
        }
    }

    private func reload() {
        catalog.seasonDuration = generator.pick([0, 5_000, 20_000, 90_000])
        catalog.keepsProratedSeason = generator.oneIn(2)
        catalog.keepsProratedLifetime = generator.oneIn(2)
        catalog.cutsFamilies = !generator.oneIn(4)
        catalog.plus = SimulatedProduct.allCases.filter { _ in generator.oneIn(2) }
        server?.service.reload(catalog)
        auditor.reloaded(catalog)
    }
}
