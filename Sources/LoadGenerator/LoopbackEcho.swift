internal import CLinux
package import EventLoop
internal import Glibc
internal import Synchronization

/// A thread that answers every frame with one and the same, but for the id: what the generator is
/// measured against.
///
/// It looks at nothing but lengths and ids, as little as a server can; the answers are those of a
/// granted check, so that the generator does all that it does with a real one.
package final class LoopbackEcho: Sendable {
    /// Where it listens: a free port of 127.0.0.1.
    package let address: SocketAddress
    /// What has to be said to it.
    package let script: CheckScript
    private let thread: Thread
    private let isStopped: StopFlag

    private final class StopFlag: Sendable { let value = Atomic<Bool>(false) }

    /// Starts it, on these processors; empty = any. `beforeAnswer` is called before what one read
    /// brought is answered: tests make it slow there.
    ///
    /// - Throws: `LoadError.system` when the system gives no socket or thread.
    package init(
        processors: [Int] = [], beforeAnswer: @escaping @Sendable () -> Void = {}
    ) throws(LoadError) {
        var port: UInt16 = 0
        let listener = unsafe clinux_listen_on_loopback(&port)
        guard listener >= 0 else {
            throw .system(operation: "listen on loopback", code: -listener)
        }
        address = .ipv4(host: "127.0.0.1", port: port)
        let script = Self.script
        self.script = script
        let flag = StopFlag()
        isStopped = flag
        do throws(UVError) {
            thread = try Thread(name: "echo") {
                if !processors.isEmpty { try? Processors.pin(processors) }
                // A failure closes the connections, which the generator reports.
                try? Self.serve(listener, Self.answer(script), flag, beforeAnswer)
                clinux_close(listener)
            }
        } catch {
            clinux_close(listener)
            throw .system(operation: error.operation, code: error.code)
        }
    }

    /// Ends it, and waits for its end.
    package func stop() {
        isStopped.value.store(true, ordering: .relaxed)
        thread.join()
    }

    /// Twenty thousand customers, all with the same answer: 107 bytes, as those of `check-zipf`.
    private static var script: CheckScript {
        let number = CheckPopulation.Series(first: 200_000_000_000_000, step: 0)
        let shape = CheckPopulation.Shape(
            productID: "bench.plus.year", granted: true, reason: 1, ownership: 1,
            validUntilMilliseconds: 4_070_908_800_000, answeredProductID: "bench.plus.year",
            transactionIDs: number, originalTransactionIDs: number)
        let population = CheckPopulation(
            bundleID: "com.example.meadow", customerCount: 20_000, namePrefix: "customer-",
            nameDigitCount: 31, shapes: [shape], shape: { _ in 0 })
        return CheckScript(population: population, selection: .uniform)
    }

    /// The frame that answers everything; its id is overwritten.
    private static func answer(_ script: CheckScript) -> [UInt8] {
        let templates = CheckTemplates(script.population)
        var message = MessageWriter()
        message.fixedVarint(1, Patch.idBase)
        var answer = MessageWriter()
        answer.number(8, 20_001)
        message.bytes(10, Array(templates.answer(customer: 0, shape: 0)) + answer.bytes)
        return MessageWriter.frame(message.bytes)
    }

    private static func serve(
        _ listener: Int32, _ answer: [UInt8], _ flag: StopFlag,
        _ beforeAnswer: @Sendable () -> Void
    ) throws(LoadError) {
        let poller = try Poller()
        try poller.add(listener, token: 0)
        var connections: [EchoConnection?] = [nil]
        while !flag.value.load(ordering: .relaxed) {
            for index in 0..<(try poller.wait(nanoseconds: 50_000_000)) {
                let token = poller.event(index).token
                if token > 0 {
                    beforeAnswer()
                    if connections[token]?.answerAll(with: answer) == false {
                        connections[token] = nil
                    }
                    continue
                }
                let socket = clinux_accept(listener)
                guard socket >= 0 else { continue }
                try poller.add(socket, token: connections.count)
                connections.append(EchoConnection(socket))
            }
        }
    }
}

/// One connection of an echo.
@safe private final class EchoConnection {
    /// What is read at once; a frame is far shorter.
    private static let inputByteCount = 64 << 10

    private let socket: Int32
    private let input = UnsafeMutablePointer<UInt8>.allocate(capacity: inputByteCount)
    private var inputCount = 0
    private var output: UnsafeMutablePointer<UInt8>
    private var outputCapacity = 256 << 10

    init(_ socket: Int32) {
        self.socket = socket
        unsafe output = .allocate(capacity: outputCapacity)
    }

    deinit {
        clinux_close(socket)
        unsafe input.deallocate()
        unsafe output.deallocate()
    }

    /// Reads once and answers every whole frame; false = the connection is over.
    func answerAll(with answer: [UInt8]) -> Bool {
        let received = unsafe clinux_receive(
            socket, input + inputCount, Self.inputByteCount - inputCount)
        if received == -Int64(EAGAIN) { return true }
        guard received > 0 else { return false }
        let total = inputCount + Int(received)
        var position = 0
        var written = 0
        while total - position >= 10 {
            let byteCount =
                unsafe Int(input[position]) << 24 | Int(input[position + 1]) << 16
                | Int(input[position + 2]) << 8 | Int(input[position + 3])
            guard total - position - 4 >= byteCount else { break }
            if written + answer.count > outputCapacity {
                guard send(written) else { return false }
                written = 0
            }
            unsafe answer.withUnsafeBufferPointer { source in
                guard let base = source.baseAddress else { return }
                unsafe (output + written).update(from: base, count: answer.count)
            }
            // The id: the same five bytes behind the same tag.
            for offset in 5..<10 {
                unsafe output[written + offset] = input[position + offset]
            }
            written += answer.count
            position += 4 + byteCount
        }
        inputCount = total - position
        if position > 0, inputCount > 0 {
            unsafe input.update(from: input + position, count: inputCount)
        }
        return send(written)
    }

    /// Sends it all; a peer that does not read makes it wait.
    private func send(_ byteCount: Int) -> Bool {
        var sent = 0
        while sent < byteCount {
            let count = unsafe clinux_send(socket, output + sent, byteCount - sent)
            if count == -Int64(EAGAIN) {
                usleep(20)
            } else if count <= 0 {
                return false
            } else {
                sent += Int(count)
            }
        }
        return true
    }
}
