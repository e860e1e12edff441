import Storage
import Testing

@testable import Simulation

@Suite struct CrashingStoreTests {
    private func put(_ value: UInt8, for key: UInt8, in store: CrashingStore) throws {
        var changes = ChangeSet()
        changes.put([value], for: [key], in: .identities)
        changes.put([value], for: [key], in: .snapshots)
        try store.commit(changes)
    }

    private func read(_ key: UInt8, of store: CrashingStore) throws -> [UInt8]? {
        let one = try store.value(for: [key], in: .identities)
        let other = try store.value(for: [key], in: .snapshots)
        #expect(one == other, "a batch is whole or not there")
        return one
    }

    @Test func `what was acknowledged survives`() throws {
        let store = CrashingStore(seed: 1, canary: nil)
        for key in UInt8(0)..<20 { try put(key, for: key, in: store) }
        store.restart()
        for key in UInt8(0)..<20 { #expect(try read(key, of: store) == [key]) }
    }

    @Test(arguments: [true, false])
    func `a batch in whose commit the process dies is there or not`(isKept: Bool) throws {
        let store = CrashingStore(seed: 1, canary: nil)
        try put(1, for: 1, in: store)
        store.decide(.crash(isKept: isKept))
        #expect(throws: StorageError.self) { try put(2, for: 2, in: store) }
        #expect(store.hasCrashed)
        #expect(throws: StorageError.self) { try put(3, for: 3, in: store) }
        store.restart()
        #expect(!store.hasCrashed)
        #expect(try read(1, of: store) == [1])
        #expect(try read(2, of: store) == (isKept ? [2] : nil))
        #expect(try read(3, of: store) == nil)
    }

    @Test func `a batch whose write failed is nowhere`() throws {
        let store = CrashingStore(seed: 1, canary: nil)
        store.decide(.failWrite)
        #expect(throws: StorageError.self) { try put(1, for: 1, in: store) }
        #expect(try read(1, of: store) == nil)
        store.restart()
        #expect(try read(1, of: store) == nil)
        #expect(store.counts.failedWrites == 1)
    }

    @Test func `a batch whose sync failed may come back, until another one is written`() throws {
        var returnCount = 0
        for seed in UInt64(1)...40 {
            let store = CrashingStore(seed: seed, canary: nil)
            store.decide(.failSync)
            #expect(throws: StorageError.self) { try put(1, for: 1, in: store) }
            #expect(try read(1, of: store) == nil)
            store.restart()
            if try read(1, of: store) != nil { returnCount += 1 }

            let next = CrashingStore(seed: seed, canary: nil)
            next.decide(.failSync)
            #expect(throws: StorageError.self) { try put(1, for: 1, in: next) }
            try put(2, for: 2, in: next)
            next.restart()
            #expect(try read(1, of: next) == nil)
            #expect(try read(2, of: next) == [2])
        }
        #expect(returnCount > 5 && returnCount < 35)
    }

    @Test func `a full disk takes nothing and loses nothing`() throws {
        let store = CrashingStore(seed: 1, canary: nil)
        try put(1, for: 1, in: store)
        store.setDiskFull(true)
        #expect(throws: StorageError.self) { try put(2, for: 1, in: store) }
        #expect(try read(1, of: store) == [1])
        store.setDiskFull(false)
        try put(3, for: 1, in: store)
        #expect(try read(1, of: store) == [3])
    }

    @Test func `the canaries of the store break its promises`() throws {
        let forgetful = CrashingStore(seed: 1, canary: .loseLastBatch)
        try put(1, for: 1, in: forgetful)
        try put(2, for: 2, in: forgetful)
        forgetful.restart()
        #expect(try read(1, of: forgetful) == [1])
        #expect(try read(2, of: forgetful) == nil)

        let torn = CrashingStore(seed: 1, canary: .tearBatch)
        torn.decide(.crash(isKept: true))
        var changes = ChangeSet()
        for key in UInt8(0)..<4 { changes.put([key], for: [key], in: .identities) }
        #expect(throws: StorageError.self) { try torn.commit(changes) }
        torn.restart()
        let left = try (UInt8(0)..<4).count { try torn.value(for: [$0], in: .identities) != nil }
        #expect(left == 2)
    }
}
