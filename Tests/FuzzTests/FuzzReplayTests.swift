import FoundationEssentials
import FuzzTargets
import Testing

/// What fuzzers have found, and some random inputs more, without a fuzzer.
@Suite struct FuzzReplayTests {
    private static let corpora = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Tools/Fuzz/Corpora")

    private static func corpus(of target: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = corpora.appending(path: target).path
        // Some targets have seeds that are made, and no files.
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
            let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)")
            return (name, Array(try #require(bytes)))
        }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `the corpus and two thousand changes of it break no promise`(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let corpus = try Self.corpus(of: name)
        for input in corpus {
            #expect(throws: Never.self, "\(name)/\(input.name)") { try target.fuzz(input.bytes) }
        }
        let seeds = try target.seeds()
        for seed in seeds { try target.fuzz(seed) }
        let inputs = corpus.map(\.bytes) + seeds
        #expect(!inputs.isEmpty)
        var mutator = ByteMutator(seed: 20)
        for _ in 0..<2_000 {
            let input = mutator.input(from: inputs, byteCountMax: target.byteCountMax)
            #expect(throws: Never.self, "\(name): \(input)") { try target.fuzz(input) }
        }
    }

    @Test func `every corpus is one of a target, and all are small`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path)
        #expect(Set(folders).isSubset(of: FuzzTarget.all.map(\.name)))
        var byteCount = 0
        for folder in folders {
            byteCount += try Self.corpus(of: folder).reduce(0) { $0 + $1.bytes.count }
        }
        #expect(byteCount < 300 << 10)
    }

    /// Targets whose inputs are binary: a seed that no longer parses would find nothing.
    @Test func `targets judge what they are given`() throws {
        let frames = try #require(FuzzTarget.all.first { $0.name == "frames" })
        try frames.fuzz([])
        #expect(try !frames.seeds().isEmpty)
        let names = FuzzTarget.all.map(\.name)
        #expect(Set(names).count == names.count)
    }
}
