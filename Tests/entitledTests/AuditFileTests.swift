import Authorization
import FoundationEssentials
import Testing

@testable import entitled

@Suite struct AuditFileTests {
    private func logger() -> Logger {
        Logger(level: .info, formatter: .text, now: { 0 }, write: { _ in })
    }

    private func entry(_ id: UInt64) -> AuditEntry {
        AuditEntry(
            at: 1_796_126_400_000, keyID: "k", keyName: "n", peer: "", method: "LinkCustomer",
            requestID: id)
    }

    private func text(_ path: String) -> String {
        let bytes = try? SystemCalls.readFile(path, byteCountMax: 1 << 20)
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    @Test func `entries are lines in their order, behind what was there`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/audit.jsonl"
            for range in [1...300, 301...310] as [ClosedRange<UInt64>] {
                let file = try AuditFile(path: path, byteCountMax: 1 << 20, logger: logger())
                for id in range { file.trail.add(entry(id)) }
                file.stop()
                #expect(file.trail.droppedCount == 0)
                // Behind its end nothing is taken, and that is counted.
                file.trail.add(entry(0))
                #expect(file.trail.droppedCount == 1)
            }
            #expect(text(path) == (1...310).map { entry($0).line + "\n" }.joined())
        }
    }

    @Test func `a file that is full is put aside, and so many old ones are kept`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/audit.jsonl"
            let byteCount = entry(1).line.utf8.count + 1
            for id in 1...7 as ClosedRange<UInt64> {
                // Opened anew, so that each entry is a group of its own.
                let file = try AuditFile(path: path, byteCountMax: byteCount, logger: logger())
                file.trail.add(entry(id))
                file.stop()
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            #expect(names == ["audit.jsonl"] + (1...4).map { "audit.jsonl.\($0)" })
            #expect(text(path) == entry(7).line + "\n")
            #expect(text(path + ".1") == entry(6).line + "\n")
            #expect(text(path + ".4") == entry(3).line + "\n")
        }
    }

    @Test func `what is lost is written down as soon as it can be`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/audit.jsonl"
            let file = try AuditFile(path: path, byteCountMax: 1 << 20, logger: logger())
            file.trail.countSuppressed()
            file.trail.countDropped(2)
            file.trail.add(entry(1))
            file.stop()
            #expect(text(path) == entry(1).line + "\n{\"lost\":2,\"suppressed\":1}\n")
        }
    }

    @Test func `a disk that takes nothing loses entries, and counts them`() throws {
        let file = try AuditFile(path: "/dev/full", byteCountMax: 1 << 20, logger: logger())
        for id in 1...5 as ClosedRange<UInt64> { file.trail.add(entry(id)) }
        file.stop()
        #expect(file.trail.droppedCount == 5)
    }

    @Test func `a line that a power cut tore does not spoil the next one`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/audit.jsonl"
            try Data("{\"time".utf8).write(to: URL(filePath: path))
            let file = try AuditFile(path: path, byteCountMax: 1 << 20, logger: logger())
            for id in 1...2 as ClosedRange<UInt64> { file.trail.add(entry(id)) }
            file.stop()
            #expect(text(path) == "{\"time\n" + entry(1).line + "\n" + entry(2).line + "\n")
        }
    }

    @Test func `a file that cannot be opened keeps the server from starting`() {
        #expect(throws: StartFailure.self) {
            try AuditFile(path: "/none/audit.jsonl", byteCountMax: 1, logger: logger())
        }
    }
}
