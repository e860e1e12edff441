import Wire

/// Runs a `FrameDecoder` over input that arrives in pieces, and collects what it gives.
enum DecoderVerifier {
    /// The bodies of all frames in the pieces, in order; the error that ended it; what it holds.
    struct Outcome: Equatable {
        var bodies: [[UInt8]] = []
        var error: WireError?
        var heldByteCount = 0
    }

    /// Feeds `pieces` one after the other.
    static func run(_ pieces: [[UInt8]], frameByteCountMax: Int = 1 << 20) -> Outcome {
        var decoder = FrameDecoder(frameByteCountMax: frameByteCountMax)
        var outcome = Outcome()
        for piece in pieces {
            let input = piece.span
            var position = 0
            do throws(WireError) {
                while let body = try decoder.next(in: input, from: &position) {
                    outcome.bodies.append(Text(copying: decoder.bytes(of: body, in: input)).bytes)
                }
            } catch {
                outcome.error = error
                return outcome
            }
            decoder.hold(input, from: position)
        }
        outcome.heldByteCount = decoder.heldByteCount
        return outcome
    }

    /// What comes of `bytes` whole; every other way to cut them must give the same.
    static func outcomes(_ bytes: [UInt8], frameByteCountMax: Int = 1 << 20) -> [Outcome] {
        var ways: [[[UInt8]]] = [[bytes], bytes.map { [$0] }]
        for cut in 1..<max(bytes.count, 2) {
            ways.append([Array(bytes.prefix(cut)), Array(bytes.dropFirst(cut))])
        }
        for size in [2, 3, 5, 7] {
            ways.append(
                stride(from: 0, to: bytes.count, by: size).map {
                    Array(bytes[$0..<min($0 + size, bytes.count)])
                })
        }
        return ways.map { run($0, frameByteCountMax: frameByteCountMax) }
    }
}
