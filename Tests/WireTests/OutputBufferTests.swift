import Testing
import Wire

@Suite struct OutputBufferTests {
    @Test func `bytes leave in the order in which they came`() {
        var generator = SeededGenerator(seed: 11)
        var buffer = OutputBuffer(capacity: 8)
        var model: [UInt8] = []
        for _ in 0..<5000 {
            if generator.oneIn(2) {
                let bytes = generator.bytes(0...90)
                buffer.append(bytes)
                model += bytes
            } else {
                let count = Int.random(in: 0...buffer.count, using: &generator)
                buffer.consume(count)
                model.removeFirst(count)
            }
            #expect(buffer.count == model.count)
        }
        #expect(buffer.copy == model)
    }

    @Test func `an emptied buffer keeps a little and gives back a lot`() {
        var buffer = OutputBuffer(retainedByteCountMax: 1024)
        buffer.append([UInt8](repeating: 1, count: 1000))
        buffer.consume(1000)
        #expect(buffer.capacityByteCount >= 1000)
        buffer.append([UInt8](repeating: 1, count: 100_000))
        buffer.consume(100_000)
        #expect(buffer.capacityByteCount <= 1024)
    }

    @Test func `truncating takes back what came after the mark`() {
        var buffer = OutputBuffer()
        buffer.append([1, 2, 3])
        let mark = buffer.mark
        buffer.append([4, 5])
        buffer.truncate(to: mark)
        #expect(buffer.copy == [1, 2, 3])
    }

    @Test func `a queue that never empties does not grow for ever`() {
        var buffer = OutputBuffer()
        for _ in 0..<10_000 {
            buffer.append([UInt8](repeating: 1, count: 100))
            if buffer.count > 500 { buffer.consume(100) }
        }
        #expect(buffer.capacityByteCount <= 4096)
    }

    @Test func `consuming more than there is traps`() async {
        await #expect(processExitsWith: .failure) {
            var buffer = OutputBuffer()
            buffer.append(1)
            buffer.consume(2)
        }
    }
}
