internal import AppStoreServerAPI
internal import Entitlements
internal import Service
internal import Storage

/// Stores what was missed of a page of Apple's notification history.
struct NotificationReader: Sendable {
    /// What a page brought.
    struct Outcome {
        var notificationCount = 0
        /// Missed before.
        var recovered: [NotificationRecord] = []
        var changes: [EntitlementChange] = []
        /// Items that are not believed, or not taken; the others stand.
        var problems: [Refusal] = []
        /// The last revision that holds something of it.
        var revision: UInt64 = 0
    }

    let desk: ReconciliationDesk
    let door: CommitDoor

    /// Takes the notifications of a page as if Apple had just posted them; those that are stored
    /// are left alone. A damaged one does not touch the others.
    ///
    /// - Parameters:
    ///   - page: As Apple gave it.
    ///   - isDryRun: Says what was missed, and stores nothing.
    /// - Returns: What it brought.
    /// - Throws: what the server's own state refuses: the page is to be read again. What was stored
    ///   of it by then is a repeat the next time.
    func take(
        _ page: AppStoreServerClient.NotificationPage, isDryRun: Bool
    ) throws(Refusal) -> Outcome {
        var outcome = Outcome()
        outcome.notificationCount = page.signedPayloads.count + page.unreadableCount
        outcome.revision = desk.ledger.revision()
        if page.unreadableCount > 0 {
            outcome.problems.append(
                Refusal(
                    .malformedPayload,
                    "\(page.unreadableCount) items of the page have no signedPayload"))
        }
        var seen: Set<ExactName> = []
        for payload in page.signedPayloads {
            do throws(Refusal) {
                let event = try desk.ledger.prepare(payload)
                guard let record = event.notificationRecord else { continue }
                let isNew = seen.insert(ExactName(record.notificationUUID)).inserted
                guard isNew, try !desk.ledger.isStored(event) else { continue }
                if isDryRun {
                    outcome.recovered.append(record)
                } else {
                    try store(event, record, in: &outcome)
                }
            } catch {
                if error.isPassing { throw error }
                outcome.problems.append(error)
            }
        }
        return outcome
    }

    private func store(
        _ event: Event, _ record: NotificationRecord, in outcome: inout Outcome
    ) throws(Refusal) {
        guard case .notification(let reply) = try door.commit(event) else {
            preconditionFailure("a notification is answered as one")
        }
        outcome.revision = max(outcome.revision, reply.revision)
        // Apple may have delivered it in this very moment.
        guard reply.disposition != .duplicate else { return }
        var record = record
        record.disposition = reply.disposition
        record.revision = reply.revision
        outcome.recovered.append(record)
        outcome.changes += reply.changes
        desk.counters.countRecovered(1)
    }
}
