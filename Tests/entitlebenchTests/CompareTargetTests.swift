import EventLoop
import Testing
import ToolSupport

@testable import entitlebench

@Suite struct CompareTargetTests {
    private func refusal(_ text: String) -> CommandFailure? {
        do throws(CommandFailure) {
            _ = try CompareTarget(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a server is a name, a kind and an address`() throws {
        let target = try CompareTarget("Redis GET=redis:127.0.0.1:6379")
        #expect(target.name == "Redis GET")
        #expect(target.kind == .redis)
        #expect(target.address == .ipv4(host: "127.0.0.1", port: 6_379))
        #expect(target.shapes == nil)
        #expect(target.takes(CompareShape(3, 5)))
    }

    @Test func `a server may be driven in some shapes only`() throws {
        let target = try CompareTarget("spin=entitled:127.0.0.1:7420@1x1+64x1")
        #expect(target.address == .ipv4(host: "127.0.0.1", port: 7_420))
        #expect(target.shapes == [CompareShape(1, 1), CompareShape(64, 1)])
        #expect(target.takes(CompareShape(64, 1)))
        #expect(!target.takes(CompareShape(16, 16)))
    }

    @Test(arguments: [
        "redis", "=redis:127.0.0.1:1", "a=redis", "a=mysql:127.0.0.1:1", "a=redis:127.0.0.1",
        "a=redis:10.0.0.1:6379", "a=redis:127.0.0.1:1@", "a=redis:127.0.0.1:1@1x1+1x1",
    ])
    func `anything else is refused`(text: String) {
        #expect(refusal(text)?.status == .usage)
    }

    @Test(arguments: ["", "16", "x", "16x", "0x1", "1x0", "1001x1", "1x1001", "1x1x1", "-1x1"])
    func `a shape is two numbers from 1 to 1,000`(text: String) {
        #expect(CompareShape(text[...]) == nil)
    }

    @Test func `the largest shape is one`() {
        #expect(CompareShape("1000x1000") == CompareShape(1_000, 1_000))
        #expect(CompareShape("16x64")?.title == "16 x 64")
    }
}
