import Wire

/// A stream of frames: however it is cut into reads, the same frames come out.
enum FrameFuzz {
    private struct Outcome: Equatable {
        var bodies: [[UInt8]] = []
        var error: WireError?
        var heldByteCount = 0
    }

    /// Three bytes choose the limit and the cuts, the rest is the stream.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let limit = [1, 7, 64, 300, 1 << 20][script.choice(of: 5)]
        var cuts = [script.choice(of: 64) + 1, script.choice(of: 8) + 1, 1]
        let stream = script.remainder()
        let whole = try read([stream], limit)
        var pieces: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
            pieces.append(Array(rest.prefix(cuts[0])))
            rest = rest.dropFirst(cuts[0])
            cuts.append(cuts.removeFirst())
        }
        let inPieces = try read(pieces, limit)
        try expect(whole == inPieces, "cuts change what a stream says: \(whole), \(inPieces)")
        try expectSame(whole, as: stream)
    }

    private static func read(_ pieces: [[UInt8]], _ limit: Int) throws -> Outcome {
        var decoder = FrameDecoder(frameByteCountMax: limit)
        var outcome = Outcome()
        var receivedByteCount = 0
        for piece in pieces {
            receivedByteCount += piece.count
            var position = 0
            do throws(WireError) {
                while let body = try decoder.next(in: piece.span, from: &position) {
                    outcome.bodies.append(
                        Text(copying: decoder.bytes(of: body, in: piece.span)).bytes)
                }
            } catch {
                outcome.error = error
                return outcome
            }
            decoder.hold(piece.span, from: position)
            try expect(
                decoder.heldByteCount <= receivedByteCount, "more is held than has come")
            try expect(
                decoder.heldCapacityByteCount <= max(4 << 10, 4 * receivedByteCount),
                "memory grows with what a prefix announces: \(decoder.heldCapacityByteCount)")
        }
        outcome.heldByteCount = decoder.heldByteCount
        return outcome
    }

    /// What was read, encoded again, is the stream up to what is held.
    private static func expectSame(_ outcome: Outcome, as stream: [UInt8]) throws {
        var output = OutputBuffer()
        for body in outcome.bodies { FrameEncoder.append(body.span, to: &output) }
        let encoded = Text(copying: output.bytes).bytes
        try expect(stream.starts(with: encoded), "frames do not encode to what they came from")
        guard outcome.error == nil else { return }
        try expect(
            encoded.count + outcome.heldByteCount == stream.count, "bytes of a stream are lost")
    }
}
