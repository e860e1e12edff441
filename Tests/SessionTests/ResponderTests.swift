import Service
import Session
import Testing
import Wire

@Suite struct ResponderTests {
    @Test func `a request in pieces is answered once, whatever the pieces`() throws {
        let bench = try SessionBench()
        let frame = try bench.frame(bench.check(.customerID("a"), .product("p"), id: 7))
        for cut in 1..<frame.count {
            bench.send(Array(frame.prefix(cut)))
            #expect(try bench.answers().isEmpty)
            bench.send(Array(frame.dropFirst(cut)))
            #expect(try bench.answers().map(\.id) == [7])
        }
        for byte in frame { bench.send([byte]) }
        #expect(try bench.answers().map(\.id) == [7])
    }

    @Test func `a thousand requests in one write have a thousand answers`() throws {
        let bench = try SessionBench()
        var bytes: [UInt8] = []
        for id in 1...1000 {
            bytes += try bench.frame(bench.check(.customerID("a"), .product("p"), id: UInt64(id)))
        }
        bench.send(bytes)
        #expect(try bench.answers().map(\.id) == (1...1000).map(UInt64.init))
    }

    @Test(
        arguments: [
            ("FFFFFFFF", "FRAME_TOO_LARGE"), ("80000000", "FRAME_TOO_LARGE"),
            ("7FFFFFFF", "FRAME_TOO_LARGE"), ("00100001", "FRAME_TOO_LARGE"),
            ("00000000", "MALFORMED_FRAME"), ("00000006 0AFFFFFFFF0F", "MALFORMED_FRAME"),
            ("00000001 00", "MALFORMED_FRAME"), ("00000001 0F", "MALFORMED_FRAME"),
            ("00000004 0A056162", "MALFORMED_FRAME"),
        ])
    func `what is no frame is answered with id 0, and nothing after it`(
        digits: String, reason: String
    ) throws {
        let bench = try SessionBench()
        let good = try bench.frame(bench.check(.customerID("a"), .product("p"), id: 7))
        bench.send(good + hex(digits) + good)
        let answers = try bench.answers()
        #expect(answers.map(\.id) == [7, 0])
        #expect(answers.last?.reason == Text(reason))
        #expect(answers.last?.status == .invalidArgument)
        #expect(bench.connection.step == .endOutput)
        bench.send(good)
        #expect(try bench.answers().isEmpty)
        bench.endOutput()
        #expect(bench.connection.step == .proceed(reads: true))
        bench.expire(after: 500)
        #expect(bench.connection.step == .close)
    }

    @Test func `random frames never end in anything but an answer or silence`() throws {
        var generator = SeededGenerator(seed: 5)
        var answerCount = 0
        for _ in 0..<300 {
            let bench = try SessionBench()
            for _ in 0..<20 {
                bench.send(framed(generator.bytes(1...20)))
                bench.work()
                let answers = try bench.answers()
                #expect(answers.count <= 1)
                answerCount += answers.count
            }
        }
        #expect(answerCount > 100)
    }
}
