import EventLoop
import Testing
import ToolSupport

@testable import entitlebench

@Suite struct BenchTargetTests {
    @Test(arguments: ["127.0.0.1:7420", "[::1]:7420", "unix:/run/entitled.sock", "localhost:1"])
    func `this machine may be driven`(text: String) throws {
        let target = try BenchTarget(foreign: text, allowsRemote: false)
        #expect(target.processID == nil)
        #expect(target.facts.program == nil)
    }

    @Test(arguments: ["192.0.2.1:7420", "0.0.0.0:7420", "[2001:db8::1]:7420"])
    func `another machine may not, unless that is said`(text: String) throws {
        let failure = #expect(throws: CommandFailure.self) {
            try BenchTarget(foreign: text, allowsRemote: false)
        }
        #expect(failure?.status == .usage)
        #expect(failure?.hint.contains("--allow-remote") == true)
        #expect(try BenchTarget(foreign: text, allowsRemote: true).facts.name == text)
    }

    @Test(arguments: ["", "7420", "example.com:7420", "unix:", "127.0.0.1:70000"])
    func `what is no address is refused`(text: String) {
        let failure = #expect(throws: CommandFailure.self) {
            try BenchTarget(foreign: text, allowsRemote: true)
        }
        #expect(failure?.status == .usage)
    }
}
