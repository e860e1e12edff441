internal import Service
internal import Session
internal import Storage
internal import TestSupport

// What the threads beside the loops do: verify, read, commit in groups, and tell the loops.

extension SimulatedServer {
    /// A worker takes a call.
    func work(_ id: Int) {
        guard let call = calls[id], call.state == .waiting else { return }
        do throws(Refusal) {
            switch call.pending.call {
            case .write(let write):
                try prepare(write, call)
            case .read(let read):
                let service = service
                let frame = encoder.frame(for: read, call.pending.tag) { (query) throws(Refusal) in
                    try service.read(query)
                }
                finish(call, frame)
            case .remote:
                throw Refusal(
                    .appStoreNotConfigured, "no App Store Server API credentials are configured")
            }
        } catch {
            finish(call, encoder.frame(for: .refused(error), call.pending.tag))
        }
    }

    /// Verifies it, or leaves that to the thread for chains that nobody has seen before.
    private func prepare(_ write: WriteCall, _ call: SimulatedCall) throws(Refusal) {
        var event: Event?
        if call.needsChainCheck {
            event = try service.prepare(write)
        } else {
            event = try service.prepareWithKnownChains(write)
        }
        guard let event else {
            call.needsChainCheck = true
            return surroundings.schedule(
                .work(call: call.id), after: Int64(generator.number(3...30)))
        }
        guard call.start() else { return }
        call.event = event
        prepared.append(call)
        beginCommit()
    }

    private func finish(_ call: SimulatedCall, _ frame: [UInt8]) {
        guard call.start() else { return }
        tell(loops[call.loop], .completed(call: call.id, frame: frame))
    }

    /// The commit thread takes what waits, while nothing is being written.
    func beginCommit() {
        guard group.isEmpty, !prepared.isEmpty else { return }
        let count = min(prepared.count, generator.pick([1, 2, 8, 256]))
        group = Array(prepared.prefix(count))
        prepared.removeFirst(count)
        let sync = surroundings.nextSync()
        store.decide(sync.fate)
        surroundings.schedule(.commit, after: sync.milliseconds)
    }

    /// The group is durable, visible, and then answered.
    func commitGroup() {
        let committed = group
        let results = service.commit(committed.compactMap(\.event))
        group = []
        // A process that is gone tells nobody anything.
        guard !store.hasCrashed else { return }
        precondition(results.count == committed.count, "every event has its result")
        for (call, result) in zip(committed, results) {
            let reply: CallReply
            switch result {
            case .success(let written): reply = .written(written)
            case .failure(let refusal): reply = .refused(refusal)
            }
            let frame = encoder.frame(for: reply, call.pending.tag)
            tell(loops[call.loop], .completed(call: call.id, frame: frame))
        }
        let revision = service.revision
        for loop in loops {
            let isAwaited = loop.awaiting.contains {
                (connections[$0]?.awaitedRevision ?? .max) <= revision
            }
            if isAwaited { tell(loop, .revisionReached) }
        }
        beginCommit()
    }
}
