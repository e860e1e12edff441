import FoundationEssentials
import Glibc
import Testing

@testable import entitled

/// The program as its users see it: a process, its output, its exit code.
@Suite(.enabled(if: ChildProcess.programPath != nil, "the program is not built"))
struct DaemonTests {
    /// Arguments of a server that could serve; the root stands in the directory.
    func arguments(_ directory: String, _ more: [String] = []) throws -> [String] {
        let root = directory + "/root.cer"
        if !FileManager.default.fileExists(atPath: root) {
            try Data(try testRoot().der).write(to: URL(filePath: root))
        }
        return [
            "--bundle-id", "com.example.meadow", "--app-apple-id", "1600000001", "--apple-root",
            root, "--allow-test-root", "--data", directory + "/data", "--listen", "127.0.0.1:0",
        ] + more
    }

    private func run(
        _ arguments: [String], environment: [String: String] = [:], in directory: String
    ) throws -> ChildProcess {
        let process = try ChildProcess(
            arguments, environment: environment, directory: directory)
        _ = process.wait()
        return process
    }

    func serve(
        _ arguments: [String], environment: [String: String] = [:], in directory: String
    ) throws -> ChildProcess {
        let process = try ChildProcess(
            arguments, environment: environment, directory: directory)
        process.wait { process.output.hasSuffix("\n") }
        return process
    }

    @Test(
        arguments: [
            (["--help"], 0), (["--version"], 0), (["--version", "--json"], 0), (["--json"], 64),
            (["--dta", "x"], 64), (["x"], 64), (["--data"], 64), ([], 78), (["--check-config"], 78),
            (["--config", "/nonexistent.json5"], 78), (["--tls-cert", "x"], 78),
        ] as [([String], Int32)])
    func `the exit code says what was wrong`(arguments: [String], code: Int32) throws {
        try withTemporaryDirectory { directory in
            let process = try run(arguments, in: directory)
            #expect(process.wait() == code)
            #expect(process.errors.isEmpty == (code == 0))
            #expect(process.output.isEmpty == (code != 0))
        }
    }

    @Test func `an unknown variable stops the start, an empty environment does not`() throws {
        try withTemporaryDirectory { directory in
            let good = try arguments(directory, ["--check-config"])
            #expect(try run(good, in: directory).wait() == 0)
            let variable = try run(good, environment: ["ENTITLED_DTA": "1"], in: directory)
            #expect(variable.wait() == 78)
            #expect(variable.errors.contains("did you mean `ENTITLED_DATA`?"))
        }
    }

    @Test func `serving begins with one line on stdout and ends with exit 0`() throws {
        try withTemporaryDirectory { directory in
            let socket = directory + "/s"
            let process = try serve(
                try arguments(directory, ["--listen", "unix:\(socket)"]), in: directory)
            let line = try #require(process.output.split(separator: "\n").first)
            let words = line.split(separator: " ")
            #expect(words.count == 3 && words[0] == "listening" && words[2] == "rpc=unix:\(socket)")
            #expect(words[1].hasPrefix("rpc=127.0.0.1:") && !words[1].hasSuffix(":0"))
            #expect(FileManager.default.fileExists(atPath: socket))
            process.send(SIGTERM)
            #expect(process.wait() == 0)
            #expect(process.output == line + "\n")
            #expect(!FileManager.default.fileExists(atPath: socket))
        }
    }

    @Test func `the log is JSON when nobody watches, one object a line`() throws {
        struct Line: Decodable {
            let ts: String
            let level: String
            let msg: String
        }
        try withTemporaryDirectory { directory in
            let process = try serve(
                try arguments(directory, ["--log-level", "debug"]), in: directory)
            for signal in [SIGUSR1, SIGHUP] { process.send(signal) }
            process.wait { process.errors.contains("configuration reloaded") }
            process.wait { process.errors.contains("statistics") }
            process.send(SIGINT)
            #expect(process.wait() == 0)
            let lines = try process.errors.split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
            let messages = lines.map(\.msg)
            for message in [
                "starting", "a test root is trusted", "listening", "warm", "statistics",
                "configuration reloaded", "draining", "stopped",
            ] { #expect(messages.contains(message)) }
            #expect(messages.last == "stopped")
            #expect(lines.allSatisfy { $0.ts.hasSuffix("Z") && $0.ts.count == 24 })
        }
    }

    @Test func `a second server on the same data exits 73 and leaves the first alone`() throws {
        try withTemporaryDirectory { directory in
            let first = try serve(try arguments(directory), in: directory)
            try withTemporaryDirectory { other in
                let second = try run(
                    try arguments(other, ["--data=\(directory)/data"]).filter {
                        $0 != "--data" && $0 != other + "/data"
                    }, in: other)
                #expect(second.wait() == 73)
                #expect(second.errors.contains("in use"))
                #expect(second.output.isEmpty)
            }
            first.send(SIGTERM)
            #expect(first.wait() == 0)
        }
    }

    @Test func `an address in use exits 71`() throws {
        try withTemporaryDirectory { directory in
            let first = try serve(try arguments(directory), in: directory)
            let address = first.output.dropFirst("listening rpc=".count).dropLast()
            try withTemporaryDirectory { other in
                var arguments = try arguments(other)
                arguments[arguments.count - 1] = String(address)
                let second = try run(arguments, in: other)
                #expect(second.wait() == 71)
                #expect(second.errors.contains(address))
            }
        }
    }

    @Test func `a data directory without a parent exits 73`() throws {
        try withTemporaryDirectory { directory in
            var arguments = try arguments(directory)
            arguments[arguments.firstIndex(of: directory + "/data") ?? 0] = directory + "/no/data"
            let process = try run(arguments, in: directory)
            #expect(process.wait() == 73)
            #expect(process.output.isEmpty)
        }
    }

    @Test func `a directory of something else is refused and left as it is`() throws {
        try withTemporaryDirectory { directory in
            let data = directory + "/data"
            try FileManager.default.createDirectory(
                atPath: data, withIntermediateDirectories: false)
            try Data("mine".utf8).write(to: URL(filePath: data + "/letter.txt"))
            #expect(try run(try arguments(directory), in: directory).wait() == 73)
            #expect(try FileManager.default.contentsOfDirectory(atPath: data) == ["letter.txt"])
        }
    }

    @Test func `a signal that comes before somebody watches for it waits`() throws {
        try withTemporaryDirectory { directory in
            let process = try ChildProcess(try arguments(directory), directory: directory)
            process.wait { process.errors.contains("starting") }
            for signal in [SIGUSR1, SIGHUP] { process.send(signal) }
            process.wait { process.errors.contains("configuration reloaded") }
            #expect(process.errors.contains("statistics"))
            process.send(SIGTERM)
            #expect(process.wait() == 0)
        }
    }

    @Test func `a reload takes the new level and names what needs a restart`() throws {
        try withTemporaryDirectory { directory in
            let file = URL(filePath: directory + "/c.json5")
            try Data("{ log: { level: 'info' } }".utf8).write(to: file)
            let process = try serve(
                try arguments(directory, ["--config", file.path]), in: directory)
            try Data("{ log: { level: 'debug' }, threads: 1 }".utf8).write(to: file)
            process.send(SIGHUP)
            process.wait { process.errors.contains("need a restart") }
            #expect(process.errors.contains("\"log_level\":\"debug\""))
            #expect(process.errors.contains("\"settings\":\"threads\""))
            try Data("{ lgo: 1 }".utf8).write(to: file)
            process.send(SIGHUP)
            process.wait { process.errors.contains("not reloaded") }
            #expect(process.errors.contains("did you mean `log`?"))
            process.send(SIGTERM)
            #expect(process.wait() == 0)
        }
    }

    @Test func `a restart finds the data where they were`() throws {
        try withTemporaryDirectory { directory in
            for _ in 0..<2 {
                let process = try serve(try arguments(directory), in: directory)
                #expect(process.output.hasPrefix("listening rpc="))
                process.send(SIGTERM)
                #expect(process.wait() == 0)
            }
            let killed = try serve(try arguments(directory), in: directory)
            killed.send(SIGKILL)
            #expect(killed.wait() == 1_009)
            let process = try serve(try arguments(directory), in: directory)
            #expect(process.output.hasPrefix("listening rpc="))
        }
    }

    @Test func `the service manager is told of the start and of the stop`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/notify"
            let receiver = try DatagramReceiver(path: path)
            let process = try serve(
                try arguments(directory), environment: ["NOTIFY_SOCKET": path], in: directory)
            #expect(receiver.receive() == "READY=1")
            process.send(SIGTERM)
            #expect(receiver.receive() == "STOPPING=1")
            #expect(process.wait() == 0)
        }
    }

    @Test func `a service manager that watches is told again and again that all turns`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/notify"
            let receiver = try DatagramReceiver(path: path)
            let process = try serve(
                try arguments(directory),
                environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"], in: directory)
            #expect(receiver.receive() == "READY=1")
            for _ in 0..<3 { #expect(receiver.receive() == "WATCHDOG=1") }
            process.send(SIGTERM)
            #expect(process.wait() == 0)
        }
    }
}

/// A datagram socket as a service manager has one; gives up after ten seconds.
private final class DatagramReceiver {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        let result = unsafe withSocketAddress(path) { address, length in
            unsafe bind(descriptor, address, length)
        }
        guard result == 0 else { throw ChildProcessError.notStarted(errno) }
    }

    deinit { close(descriptor) }

    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

/// Calls `body` with the address of a Unix socket.
func withSocketAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
