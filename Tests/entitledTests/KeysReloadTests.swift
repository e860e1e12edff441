import Authorization
import Synchronization
import Testing

@testable import entitled

@Suite struct KeysReloadTests {
    private final class Disk: Sendable {
        let content = Mutex<[UInt8]?>(nil)

        func write(_ text: String?) { content.withLock { $0 = text.map { Array($0.utf8) } } }

        func read() throws(FileReadError) -> [UInt8] {
            guard let bytes = content.withLock({ $0 }) else { throw .notFound }
            return bytes
        }
    }

    private static func line(_ id: String) -> String {
        KeyRecord(
            id: id, name: id, credential: .key(KeyText.digest(of: "entk_\(id)_x")),
            roles: [.check]
        ).line + "\n"
    }

    private func fault(_ board: KeyBoard, _ id: String) -> KeyGrant.Fault {
        let key = Array("entk_\(id)_x".utf8)
        return board.ring.grant(key: key.span, certificateNames: []).fault
    }

    @Test func `what is in the file applies, what cannot be read changes nothing`() throws {
        let disk = Disk()
        let board = KeyBoard(KeysReload.ring(KeysFile(), worlds: []))
        let reload = KeysReload(
            path: "/k", start: KeysFile(), board: board, worlds: [],
            readFile: { (_, _) throws(FileReadError) in try disk.read() })
        disk.write(Self.line("a"))
        #expect(reload.run() == .replaced)
        #expect(fault(board, "a") == .none)
        let generation = board.generation
        disk.write("# only a comment\n" + Self.line("a"))
        #expect(reload.run() == .unchanged)
        #expect(board.generation == generation)
        for bad in ["junk\n", Self.line("b") + Self.line("b"), nil] {
            disk.write(bad)
            guard case .refused(let message) = reload.run() else {
                Issue.record("\(bad ?? "nothing") was taken")
                continue
            }
            #expect(message.contains("the keys file `/k`"))
            #expect(fault(board, "a") == .none && board.generation == generation)
        }
        disk.write("")
        #expect(reload.run() == .replaced)
        #expect(fault(board, "a") == .unknown)
    }

    @Test func `a configuration with a keys file that is missing or wrong is refused`() throws {
        let root = try testRoot().der
        func problems(_ files: [String: [UInt8]]) -> String? {
            let inputs = inputs(
                [
                    "--bundle-id", "a", "--app-apple-id", "1", "--apple-root", "/r",
                    "--allow-test-root", "--auth-keys-file", "/k",
                ],
                files: files.merging(["/r": root]) { own, _ in own })
            do throws(ConfigurationFailure) {
                let loaded = try LoadedConfiguration(ConfigurationLoader(inputs), inputs: inputs)
                return loaded.keys == nil ? "none" : nil
            } catch {
                return error.problems.map(\.message).joined()
            }
        }
        #expect(problems([:])?.contains("there is no such file") == true)
        #expect(problems(["/k": Array("{\"id\":1}".utf8)])?.contains("line 1: ") == true)
        #expect(problems(["/k": []]) == nil)
        #expect(problems(["/k": Array(Self.line("a").utf8)]) == nil)
    }

    @Test func `without a keys file the ring is open`() {
        #expect(KeysReload.ring(nil, worlds: []).isOpen)
        #expect(!KeysReload.ring(KeysFile(), worlds: []).isOpen)
    }
}
