import Session
import Testing

@Suite struct ConnectionStateMachineTests {
    private let limits = Limits()

    @Test func `a connection reads, is idle, and needs no timer`() {
        let machine = ConnectionStateMachine(limits: limits)
        #expect(machine.state == .open)
        #expect(machine.step == .proceed(reads: true))
        #expect(machine.isIdle)
        #expect(machine.nextDeadlineMilliseconds == nil)
        #expect(!machine.shouldResume)
    }

    @Test func `nothing is read above the high-water mark until the output is below the low one`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.outputPending(byteCount: limits.outputHighWaterByteCount - 1, at: 0)
        #expect(machine.step == .proceed(reads: true))
        machine.outputPending(byteCount: limits.outputHighWaterByteCount, at: 0)
        #expect(machine.step == .proceed(reads: false))
        let first = machine.mayTakeFrame(newOutputByteCount: 0)
        #expect(!first)
        machine.outputPending(byteCount: limits.outputLowWaterByteCount, at: 1)
        #expect(machine.step == .proceed(reads: false))
        machine.outputPending(byteCount: limits.outputLowWaterByteCount - 1, at: 2)
        #expect(machine.step == .proceed(reads: true))
        let second = machine.mayTakeFrame(newOutputByteCount: 0)
        #expect(second)
    }

    @Test func `answers of the read under way count for the mark`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.outputPending(byteCount: 1000, at: 0)
        let room = limits.outputHighWaterByteCount - 1000
        let first = machine.mayTakeFrame(newOutputByteCount: room - 1)
        #expect(first)
        let second = machine.mayTakeFrame(newOutputByteCount: room)
        #expect(!second)
        machine.held(byteCount: 20, holdsWholeFrame: true, at: 0)
        machine.outputPending(byteCount: 0, at: 0)
        #expect(machine.shouldResume)
    }

    @Test func `nothing is read while the calls in flight hold too many bytes`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.began(byteCount: limits.inFlightByteCountMax)
        #expect(machine.step == .proceed(reads: false))
        let first = machine.mayTakeFrame(newOutputByteCount: 0)
        #expect(!first)
        machine.answered(byteCount: limits.inFlightByteCountMax)
        #expect(machine.step == .proceed(reads: true))
    }

    @Test func `a frame begun has its time and a frame taken ends it`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.held(byteCount: 3, holdsWholeFrame: false, at: 100)
        #expect(machine.nextDeadlineMilliseconds == 10_100)
        machine.held(byteCount: 9, holdsWholeFrame: false, at: 5000)
        #expect(machine.nextDeadlineMilliseconds == 10_100)
        machine.tookFrame()
        machine.held(byteCount: 2, holdsWholeFrame: false, at: 6000)
        #expect(machine.nextDeadlineMilliseconds == 16_000)
        machine.tookFrame()
        machine.held(byteCount: 0, holdsWholeFrame: false, at: 6001)
        #expect(machine.nextDeadlineMilliseconds == nil)
    }

    @Test func `a frame that is late is told, one millisecond before it is not`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.held(byteCount: 3, holdsWholeFrame: false, at: 0)
        let first = machine.expire(at: 9999)
        #expect(first == .nothing)
        #expect(machine.state == .open)
        let second = machine.expire(at: 10_000)
        #expect(second == .frame)
        #expect(machine.step == .endOutput)
    }

    @Test func `the frame's clock stands still while it is we who do not read`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.outputPending(byteCount: limits.outputHighWaterByteCount, at: 0)
        machine.held(byteCount: 3, holdsWholeFrame: false, at: 0)
        #expect(machine.nextDeadlineMilliseconds == limits.writeStallMillisecondsMax)
    }

    @Test func `a peer that takes next to nothing is given up, one that goes on taking is not`() {
        var machine = ConnectionStateMachine(limits: limits)
        let step = limits.writeProgressByteCount
        machine.outputPending(byteCount: 4 * step, at: 0)
        machine.outputPending(byteCount: 4 * step, at: 20_000)
        #expect(machine.nextDeadlineMilliseconds == 30_000)
        // A byte now and then is no progress.
        machine.outputPending(byteCount: 4 * step - 1, at: 25_000)
        machine.outputPending(byteCount: 3 * step + 1, at: 28_000)
        #expect(machine.nextDeadlineMilliseconds == 30_000)
        machine.outputPending(byteCount: 3 * step, at: 29_000)
        #expect(machine.nextDeadlineMilliseconds == 59_000)
        let first = machine.expire(at: 58_999)
        #expect(first == .nothing)
        #expect(machine.state == .open)
        _ = machine.expire(at: 59_000)
        #expect(machine.step == .close)
        #expect(machine.nextDeadlineMilliseconds == nil)
    }

    @Test func `a peer that has taken all has its time anew`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.outputPending(byteCount: 100, at: 0)
        machine.outputPending(byteCount: 0, at: 29_999)
        #expect(machine.nextDeadlineMilliseconds == nil)
        machine.outputPending(byteCount: 100, at: 40_000)
        #expect(machine.nextDeadlineMilliseconds == 70_000)
    }

    @Test func `a handshake has its own time, and frames follow it`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.beganHandshake(at: 5)
        #expect(machine.nextDeadlineMilliseconds == 5 + limits.handshakeMillisecondsMax)
        var late = machine
        _ = late.expire(at: 5 + limits.handshakeMillisecondsMax)
        #expect(late.step == .close)
        machine.endedHandshake()
        #expect(machine.nextDeadlineMilliseconds == nil)
        _ = machine.expire(at: 100_000)
        #expect(machine.state == .open)
    }

    @Test func `after the peer's end what is owed leaves, then the connection closes`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.began(byteCount: 10)
        machine.inputEnded()
        machine.held(byteCount: 0, holdsWholeFrame: false, at: 0)
        #expect(machine.step == .proceed(reads: false))
        machine.answered(byteCount: 10)
        machine.outputPending(byteCount: 50, at: 0)
        #expect(machine.step == .proceed(reads: false))
        machine.outputPending(byteCount: 0, at: 1)
        #expect(machine.step == .endOutput)
        machine.outputEnded(at: 1)
        #expect(machine.step == .close)
    }

    @Test func `after a refusal of the input the peer is listened to for a moment`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.refusedInput()
        #expect(machine.discardsInput)
        let first = machine.mayTakeFrame(newOutputByteCount: 0)
        #expect(!first)
        #expect(machine.step == .endOutput)
        machine.outputEnded(at: 100)
        #expect(machine.step == .proceed(reads: true))
        #expect(machine.nextDeadlineMilliseconds == 100 + limits.lingerMillisecondsMax)
        var patient = machine
        patient.inputEnded()
        #expect(patient.step == .close)
        _ = machine.expire(at: 100 + limits.lingerMillisecondsMax)
        #expect(machine.step == .close)
    }

    @Test func `draining ends an idle connection at once and a busy one when it is idle`() {
        var idle = ConnectionStateMachine(limits: limits)
        idle.drain()
        #expect(idle.step == .endOutput)

        var busy = ConnectionStateMachine(limits: limits)
        busy.began(byteCount: 5)
        busy.drain()
        #expect(busy.step == .proceed(reads: true))
        busy.outputPending(byteCount: 30, at: 0)
        busy.answered(byteCount: 5)
        #expect(busy.step == .proceed(reads: true))
        busy.outputPending(byteCount: 0, at: 1)
        #expect(busy.step == .endOutput)
    }

    @Test func `a draining connection waits for the frame that has begun`() {
        var machine = ConnectionStateMachine(limits: limits)
        machine.held(byteCount: 3, holdsWholeFrame: false, at: 0)
        machine.drain()
        #expect(machine.step == .proceed(reads: true))
        machine.tookFrame()
        machine.held(byteCount: 0, holdsWholeFrame: false, at: 1)
        machine.outputPending(byteCount: 0, at: 1)
        #expect(machine.step == .endOutput)
    }

    @Test func `in flight there is room up to the limit`() {
        var machine = ConnectionStateMachine(limits: limits)
        for _ in 0..<limits.inFlightCountMax {
            #expect(machine.hasRoomInFlight)
            machine.began(byteCount: 1)
        }
        #expect(!machine.hasRoomInFlight)
        machine.answered(byteCount: 1)
        #expect(machine.hasRoomInFlight)
    }

    @Test func `an answer to nothing traps`() async {
        await #expect(processExitsWith: .failure) {
            var machine = ConnectionStateMachine(limits: Limits())
            machine.answered(byteCount: 0)
        }
    }
}
