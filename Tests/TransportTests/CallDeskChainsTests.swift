import EventLoop
import Service
import Session
import Testing

@testable import Transport

@Suite struct CallDeskChainsTests {
    private static let stranger = WriteCall.notification(payload: [1])

    private static func isStranger(_ call: WriteCall) -> Bool {
        guard case .notification(let payload) = call else { return false }
        return payload == [1]
    }

    /// Holds whoever checks a stranger's chain until it is let go.
    private final class Gate: Sendable {
        let entered = BlockingQueue<Bool>(capacity: 1)
        let goOn = BlockingQueue<Bool>(capacity: 1)
    }

    /// A desk on which one payload has an unknown chain, and its check lasts until the gate opens.
    private func bench(_ gate: Gate, countMax: Int) throws -> CallDeskTests.Bench {
        try CallDeskTests.Bench(
            { $0.unknownChainCallCountMax = countMax },
            prepare: { call throws(Refusal) in
                guard Self.isStranger(call) else {
                    throw Refusal(.badSignature, "the test signs nothing")
                }
                if gate.entered.push(true) { _ = gate.goOn.pop() }
                throw Refusal(.untrustedChain, "the test trusts nobody")
            },
            isKnown: { !Self.isStranger($0) })
    }

    @Test func `a call with a known chain overtakes those with unknown ones`() throws {
        let gate = Gate()
        let bench = try bench(gate, countMax: 8)
        for id in 0..<4 {
            #expect(bench.desk.submit(bench.job(UInt64(id), .write(Self.stranger))))
        }
        #expect(gate.entered.pop() == true)
        for id in 4..<8 { #expect(bench.desk.submit(bench.job(UInt64(id)))) }
        while bench.desk.outstandingCallCount > 4 { pause() }
        gate.entered.close()
        gate.goOn.close()
        #expect(bench.finish() == [4, 5, 6, 7, 0, 1, 2, 3])
        #expect(try bench.reason(0) == "UNTRUSTED_CHAIN")
        #expect(try bench.reason(4) == "BAD_SIGNATURE")
    }

    @Test func `too many unknown chains are refused, and others are not`() throws {
        let gate = Gate()
        let bench = try bench(gate, countMax: 2)
        #expect(bench.desk.submit(bench.job(0, .write(Self.stranger))))
        #expect(gate.entered.pop() == true)
        for id in 1..<6 {
            #expect(bench.desk.submit(bench.job(UInt64(id), .write(Self.stranger))))
        }
        #expect(bench.desk.submit(bench.job(6)))
        while bench.desk.outstandingCallCount > 3 { pause() }
        gate.entered.close()
        gate.goOn.close()
        #expect(bench.finish() == [3, 4, 5, 6, 0, 1, 2])
        #expect(try bench.reason(3) == "OVERLOADED")
        #expect(try bench.reason(6) == "BAD_SIGNATURE")
        #expect(try bench.reason(2) == "UNTRUSTED_CHAIN")
    }

    @Test func `an unknown chain that turns out well is committed`() throws {
        let bench = try CallDeskTests.Bench(
            prepare: { _ throws(Refusal) in CallDeskRemoteTests.event }, isKnown: { _ in false })
        #expect(bench.desk.submit(bench.job(1)))
        #expect(bench.finish() == [1])
        #expect(try bench.reason(1) == "STORE_UNAVAILABLE")
    }

    @Test func `a call that was given up is not checked`() throws {
        let gate = Gate()
        let bench = try bench(gate, countMax: 8)
        #expect(bench.desk.submit(bench.job(0, .write(Self.stranger))))
        #expect(gate.entered.pop() == true)
        let dropped = bench.job(1, .write(Self.stranger))
        #expect(bench.desk.submit(dropped))
        #expect(dropped.claim.abandon())
        gate.entered.close()
        gate.goOn.close()
        #expect(bench.finish() == [0])
    }
}
