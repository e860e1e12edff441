import Entitlements
import EventLoop
import Service
import Synchronization
import Testing
import Wire

@testable import Session
@testable import Transport

@Suite struct CallDeskTests {
    /// A desk of one loop whose service is played by the test.
    final class Bench {
        let desk: CallDesk
        let loop: Loop
        private let receiver: InboxReceiver<LoopMessage>
        private let answered: Answers

        final class Answers {
            var ids: [UInt64] = []
            var frames: [UInt64: [UInt8]] = [:]
        }

        /// A desk that asks Apple by `remote`; without a `commit` every event is refused.
        init(
            _ change: (inout ServerOptions) -> Void = { _ in }, remote: RemoteWork? = nil,
            prepare: @escaping @Sendable (WriteCall) throws(Refusal) -> Event = {
                _ throws(Refusal) in
                throw Refusal(.badSignature, "the test signs nothing")
            },
            isKnown: @escaping @Sendable (WriteCall) -> Bool = { _ in true },
            commit: (@Sendable ([Event]) -> [Result<WriteReply, Refusal>])? = nil
        ) throws {
            var options = ServerOptions(
                addresses: [.ipv4(host: "127.0.0.1", port: 0)],
                identity: ServerIdentity(version: "1", commit: ""))
            change(&options)
            loop = try Loop()
            let answered = Answers()
            self.answered = answered
            receiver = try InboxReceiver(loop: loop) { batch in
                for case .completed(let ticket, let frame) in batch {
                    answered.ids.append(ticket.callID)
                    answered.frames[ticket.callID] = frame
                }
            }
            desk = CallDesk(
                operations: .init(
                    prepare: prepare,
                    prepareWithKnownChains: { call throws(Refusal) in
                        isKnown(call) ? try prepare(call) : nil
                    },
                    read: { _ throws(Refusal) in
                        throw Refusal(.unknownCustomer, "the test knows nobody")
                    },
                    commit: commit ?? { events in
                        events.map { _ in .failure(Refusal(.storeUnavailable, "test")) }
                    },
                    revision: { 1 }),
                remote: remote, ports: [LoopPort(inbox: receiver.inbox)], options: options)
            try desk.start(
                workerCount: 1, remoteThreadCount: options.remoteThreadCount)
        }

        func job(
            _ id: UInt64, byteCount: Int = 10,
            _ call: SessionCall = .write(.notification(payload: [])),
            deadlineMilliseconds: Int64 = .max, allowedScopes: [Scope]? = nil
        ) -> CallDesk.Job {
            let call = PendingCall(
                tag: CallTag(requestID: id, byteCount: byteCount, isHeavyRead: false),
                deadlineMilliseconds: deadlineMilliseconds, call: call,
                allowedScopes: allowedScopes)
            return CallDesk.Job(
                ticket: CallTicket(loopIndex: 0, callID: id), pending: call, claim: WorkClaim())
        }

        /// Which calls were answered, after all were carried out.
        func finish() -> [UInt64] {
            desk.stop()
            receiver.deliver()
            loop.close()
            return answered.ids
        }

        /// The reason in the answer to a call; after `finish`.
        func reason(_ id: UInt64) throws -> String {
            let frame = try #require(answered.frames[id])
            let response = try Response(
                decoding: Array(frame[4...]).span, in: MessageArena(byteCountMax: 1 << 20))
            return "\(response.reason)"
        }
    }

    @Test func `every call that is taken is answered once, in order for one worker`() throws {
        let bench = try Bench()
        for id in 0..<500 { #expect(bench.desk.submit(bench.job(UInt64(id)))) }
        #expect(bench.finish() == Array(0..<500))
    }

    @Test func `a call that was given up is dropped`() throws {
        let bench = try Bench()
        let dropped = bench.job(1)
        #expect(dropped.claim.abandon())
        #expect(bench.desk.submit(dropped))
        #expect(bench.desk.submit(bench.job(2)))
        #expect(bench.finish() == [2])
    }

    @Test func `too many or too large calls are refused, and room comes back`() throws {
        let bench = try Bench {
            $0.outstandingCallCountMax = 4
            $0.outstandingCallByteCountMax = 1 << 20
        }
        #expect(!bench.desk.submit(bench.job(1, byteCount: 1 << 20 + 1)))
        #expect(bench.desk.submit(bench.job(2, byteCount: 1 << 20)))
        var accepted = false
        for _ in 0..<10_000 where !accepted {
            accepted = bench.desk.submit(bench.job(3, byteCount: 1 << 20))
            if !accepted { pause() }
        }
        #expect(accepted)
        #expect(bench.finish() == [2, 3])
    }

    /// What was signed says of which app it is only once it was verified: by a worker, or by the
    /// thread for chains that nobody has seen before.
    @Test(arguments: [true, false])
    func `what is signed for an app that the caller may not name is not committed`(
        isKnown: Bool
    ) throws {
        let committed = Atomic(0)
        let own = Scope(bundleID: "b", environment: .production)
        let bench = try Bench(
            prepare: { _ throws(Refusal) in CallDeskRemoteTests.event }, isKnown: { _ in isKnown },
            commit: { events in
                committed.add(events.count, ordering: .relaxed)
                return events.map { _ in .failure(Refusal(.storeUnavailable, "test")) }
            })
        let scopes = [nil, [own], [Scope(bundleID: "b", environment: .sandbox)], []]
        for (id, scopes) in scopes.enumerated() {
            #expect(bench.desk.submit(bench.job(UInt64(id), allowedScopes: scopes)))
        }
        #expect(bench.finish().sorted() == [0, 1, 2, 3])
        let reasons = try (0..<4).map { try bench.reason(UInt64($0)) }
        #expect(
            reasons == [
                "STORE_UNAVAILABLE", "STORE_UNAVAILABLE", "APP_NOT_ALLOWED", "APP_NOT_ALLOWED",
            ])
        #expect(committed.load(ordering: .relaxed) == 2)
    }

    @Test func `after the end nothing is taken`() throws {
        let bench = try Bench()
        #expect(bench.finish() == [])
        #expect(!bench.desk.submit(bench.job(1)))
    }
}
