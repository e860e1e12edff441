internal import OpenSSL
internal import Synchronization

/// The callers that a server knows at one time, and the worlds that it serves. Immutable, but for
/// when each was last seen.
package final class KeyRing: Sendable {
    /// One of the worlds that the server serves, at its position among them.
    package struct World: Hashable, Sendable {
        package var bundleID: String
        /// The number on the wire: 1 for Production, 2 for Sandbox.
        package var environment: Int32

        /// A world.
        package init(bundleID: String, environment: Int32) {
            self.bundleID = bundleID
            self.environment = environment
        }
    }

    /// When a caller was last seen, in ms since 1970; 0: not yet. Relaxed: it orders nothing.
    private final class Use: Sendable {
        let at = Atomic<Int64>(0)
    }

    /// Whether there is no keys file: everybody may do everything.
    package let isOpen: Bool
    /// The records in the order of the file.
    package let records: [KeyRecord]
    /// The worlds, in the server's order.
    package let worlds: [World]
    private let grants: [KeyGrant]
    /// The positions of those who show a key, by id; in no record twice.
    private let keyIndices: [[UInt8]: Int]
    private let certificateIndices: [Int]
    private let uses: [Use]

    /// A ring without keys: everybody may do everything.
    package init() {
        isOpen = true
        (records, worlds, grants, certificateIndices, uses) = ([], [], [], [], [])
        keyIndices = [:]
    }

    /// A ring of a file's records.
    ///
    /// - Parameters:
    ///   - file: What is known; without a record nobody may call.
    ///   - worlds: What is served, in the server's order.
    ///   - previous: What was known before: when its callers were seen is kept.
    package init(_ file: KeysFile, worlds: [World], previous: KeyRing? = nil) {
        isOpen = false
        let records = file.records
        self.records = records
        self.worlds = worlds
        grants = records.enumerated().map { KeyGrant($1, at: $0, among: worlds) }
        var keyIndices: [[UInt8]: Int] = [:]
        var certificateIndices: [Int] = []
        for (index, record) in records.enumerated() {
            switch record.credential {
            case .key: keyIndices[Array(record.id.utf8)] = index
            case .certificate: certificateIndices.append(index)
            }
        }
        self.keyIndices = keyIndices
        self.certificateIndices = certificateIndices
        var known: [String: Use] = [:]
        if let previous {
            for (record, use) in zip(previous.records, previous.uses) { known[record.id] = use }
        }
        uses = records.map { known[$0.id] ?? Use() }
    }

    /// Who calls.
    ///
    /// - Parameters:
    ///   - key: What came with the request; empty: nothing.
    ///   - certificateNames: The names in the verified certificate of the connection. They count
    ///     where no key came: a key that is wrong is not made good by a certificate.
    /// - Returns: what he may do, or why he is not known. Whether he has expired depends on the
    ///   time: ask `KeyGrant.fault(at:)`.
    package func grant(key: Span<UInt8>, certificateNames: [String]) -> KeyGrant {
        if isOpen { return .everything }
        if key.isEmpty { return grant(certificateNames) }
        guard let range = KeyText.idRange(in: key) else { return .refused(.unknown) }
        // The same work whether the id is known or not: what is found out by the time that it takes
        // is at most that an id is known, and ids are no secret.
        let digest = SHA256Digest(of: key)
        var id: [UInt8] = []
        id.reserveCapacity(range.count)
        for index in range { id.append(key[index]) }
        guard let index = keyIndices[id], case .key(let known) = records[index].credential,
            digest.isEqualInConstantTime(to: known)
        else { return .refused(.unknown) }
        return grants[index]
    }

    /// The first record that is still taken decides: a name may stand in several, of which old ones
    /// are revoked.
    private func grant(_ certificateNames: [String]) -> KeyGrant {
        guard !certificateNames.isEmpty else { return .refused(.missing) }
        var found: KeyGrant?
        for index in certificateIndices {
            guard case .certificate(let name) = records[index].credential,
                certificateNames.contains(where: { $0.utf8.elementsEqual(name.utf8) })
            else { continue }
            if grants[index].fault == .none { return grants[index] }
            found = found ?? grants[index]
        }
        return found ?? .refused(.missing)
    }

    /// Whether a caller may speak of the world at a position.
    @inline(__always)
    package func allows(_ grant: KeyGrant, worldAt index: Int) -> Bool {
        guard grant.isLimited else { return true }
        if index < 64 { return grant.nearScopes & 1 &<< UInt64(index) != 0 }
        return allowsFar(grant, worldAt: index)
    }

    /// A server of more than 64 worlds is rare, and a set of any size would be an object.
    private func allowsFar(_ grant: KeyGrant, worldAt index: Int) -> Bool {
        guard records.indices.contains(Int(grant.recordIndex)), worlds.indices.contains(index)
        else { return false }
        let world = worlds[index]
        return records[Int(grant.recordIndex)].apps.contains {
            $0.covers(world.bundleID, world.environment)
        }
    }

    /// The record behind a grant; nil where there is none.
    package func record(of grant: KeyGrant) -> KeyRecord? {
        records.indices.contains(Int(grant.recordIndex))
            ? records[Int(grant.recordIndex)] : nil
    }

    /// Notes that a caller was seen.
    package func noteUse(of grant: KeyGrant, atMilliseconds now: Int64) {
        guard uses.indices.contains(Int(grant.recordIndex)) else { return }
        uses[Int(grant.recordIndex)].at.store(now, ordering: .relaxed)
    }

    /// When the caller of a record was last seen since the server's start, in ms since 1970; 0:
    /// not. Exact to a minute.
    package func lastUse(ofRecordAt index: Int) -> Int64 {
        uses.indices.contains(index) ? uses[index].at.load(ordering: .relaxed) : 0
    }

    /// Apps of records that the server does not serve: most likely they are misspelt.
    package var unknownApps: [String] {
        var unknown: [String] = []
        for app in records.lazy.filter({ !$0.isRevoked }).flatMap(\.apps)
        where !worlds.contains(where: { app.covers($0.bundleID, $0.environment) })
            && !unknown.contains(where: { $0.utf8.elementsEqual(app.text.utf8) })
        {
            unknown.append(app.text)
        }
        return unknown
    }
}

extension KeyGrant {
    /// What a record grants.
    fileprivate init(_ record: KeyRecord, at index: Int, among worlds: [KeyRing.World]) {
        self.init(fault: record.isRevoked ? .revoked : .none)
        recordIndex = Int32(truncatingIfNeeded: index)
        roles = record.roles
        isLimited = !record.apps.isEmpty
        if record.expires > 0 { expires = record.expires }
        for (index, world) in worlds.prefix(64).enumerated()
        where record.apps.contains(where: { $0.covers(world.bundleID, world.environment) }) {
            nearScopes |= 1 << UInt64(index)
        }
    }
}
