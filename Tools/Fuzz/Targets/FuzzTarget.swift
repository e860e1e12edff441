/// What a fuzz target found wrong, in words for whoever mends it.
package struct FuzzFinding: Error, Sendable, CustomStringConvertible {
    /// Which promise does not hold.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// One thing that reads bytes from outside, and what must hold whatever they are.
///
/// A target keeps nothing between two inputs that could change what it says of the next one: a
/// finding is reproduced by its input alone.
package struct FuzzTarget: Sendable {
    /// The name on the command line, and that of the folder of its corpus.
    package let name: String
    /// Longer inputs find nothing that shorter ones do not.
    package let byteCountMax: Int
    /// Inputs to begin with, beside the corpus.
    package let seeds: @Sendable () throws -> [[UInt8]]
    /// Throws `FuzzFinding` where a promise does not hold; traps where the code under test does.
    package let fuzz: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, byteCountMax: Int = 1024,
        seeds: @escaping @Sendable () throws -> [[UInt8]] = { [] },
        _ fuzz: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.byteCountMax = byteCountMax
        self.seeds = seeds
        self.fuzz = fuzz
    }

    /// Every target, cheap ones first.
    package static let all: [FuzzTarget] = [
        FuzzTarget("frames", seeds: { try framed(FuzzSeeds.requests()) }, FrameFuzz.fuzz),
        FuzzTarget("checks", seeds: { try FuzzSeeds.requests().map { [0] + $0 } }, CheckFuzz.fuzz),
        FuzzTarget("requests", seeds: FuzzSeeds.requests, MessageFuzz.fuzzRequest),
        FuzzTarget("responses", seeds: FuzzSeeds.responses, MessageFuzz.fuzzResponse),
        FuzzTarget("records", seeds: FuzzSeeds.records, RecordFuzz.fuzz),
        FuzzTarget("keys", byteCountMax: 256, seeds: FuzzSeeds.keys, KeyFuzz.fuzz),
        FuzzTarget("packed", PackedFuzz.fuzz),
        FuzzTarget("snapshots", seeds: FuzzSeeds.snapshots, SnapshotFuzz.fuzz),
        FuzzTarget("json", JSONFuzz.fuzz), FuzzTarget("payloads", PayloadFuzz.fuzz),
        FuzzTarget("v1", V1Fuzz.fuzz), FuzzTarget("signatures", SignatureFuzz.fuzz),
        FuzzTarget("certificates", CertificateFuzz.fuzz),
        FuzzTarget("configuration", ConfigurationFuzz.fuzz),
        FuzzTarget("connection", ConnectionFuzz.fuzz),
    ]

    /// Three bytes for limit and cuts, then the bodies as frames.
    private static func framed(_ bodies: [[UInt8]]) -> [[UInt8]] {
        [
            [4, 9, 3]
                + bodies.flatMap { body in
                    [0, 0, UInt8(body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
                }
        ]
    }
}

/// Throws where `holds` is false.
func expect(_ holds: Bool, _ promise: @autoclosure () -> String) throws(FuzzFinding) {
    if !holds { throw FuzzFinding(promise()) }
}
