import EventLoop
import Service
import Storage
import Testing

@testable import entitled

@Suite struct StartFailureTests {
    @Test(
        arguments: [
            (.cannotOpen(directory: "/d", message: "m"), .cannotCreate),
            (.locked(directory: "/d", message: "m"), .cannotCreate),
            (.foreignDirectory(directory: "/d", message: "m"), .cannotCreate),
            (.noPermission(directory: "/d", message: "m"), .permission),
            (.newerFormat(directory: "/d", found: 9, supported: 1), .damagedData),
            (.damaged(message: "m"), .damagedData),
            (.corruptRecord(keyspace: .snapshots, message: "m"), .damagedData),
            (.unavailable(message: "m"), .inputOutput),
        ] as [(StorageError, ExitCode)])
    func `what is wrong with the store decides the exit code`(
        error: StorageError, exitCode: ExitCode
    ) {
        let failure = StartFailure(error)
        #expect(failure.exitCode == exitCode)
        #expect(failure.message.contains(error.hasMessage ? "m" : "format 9"))
    }

    @Test func `what is wrong with the service decides the exit code`() {
        #expect(
            StartFailure(ServiceStartError.storage(.damaged(message: "m"))).exitCode
                == .damagedData)
        #expect(
            StartFailure(ServiceStartError.storage(.unavailable(message: "m"))).exitCode
                == .inputOutput)
        #expect(StartFailure(ServiceStartError.configuration("m")).exitCode == .configuration)
    }

    @Test func `the operating system's refusals are told apart`() {
        let inUse = UVError(code: -98, operation: "listen", subject: "127.0.0.1:1")
        #expect(StartFailure(inUse).exitCode == .operatingSystem)
        #expect(StartFailure(inUse).message.contains("127.0.0.1:1"))
        #expect(StartFailure(UVError(code: -13, operation: "listen")).exitCode == .permission)
    }
}

extension StorageError {
    fileprivate var hasMessage: Bool {
        if case .newerFormat = self { false } else { true }
    }
}
