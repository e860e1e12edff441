internal import Wire

// What may be refused, and when.

extension Auditor {
    /// A call was refused: nothing of it was stored, and there was a reason to.
    func refused(_ response: Response, _ asked: Asked) {
        let reason = response.reason.description
        if case .write(let index) = asked.inquiry {
            // A batch whose sync failed may come back when the process dies before it is taken
            // back: its sender was told to try again.
            noteRefusal(of: index, mayComeBack: reason == "STORE_UNAVAILABLE")
        }
        guard let complaint = complaint(about: reason, response, asked) else { return }
        report("refusal", "\(asked.inquiry.summary) was refused with \(reason): \(complaint)")
    }

    /// What is wrong with a refusal; nil where it is allowed.
    private func complaint(about reason: String, _ response: Response, _ asked: Asked) -> String? {
        let waited = clock.nowMilliseconds - asked.sentAt
        switch reason {
        case "OVERLOADED":
            return plan.faults.contains(.tightLimits) ? nil : "nobody has sent that much"
        case "DRAINING":
            return plan.faults.contains(.drains) ? nil : "nobody asked it to end"
        case "DEADLINE":
            return waited >= asked.timeoutMilliseconds ? nil : "after \(waited) ms"
        case "REVISION_NOT_REACHED":
            return complaintAboutWaiting(asked, waited)
        case "STORE_UNAVAILABLE":
            guard !response.message.description.contains("history changes faster") else {
                return "nothing changes while it is read"
            }
            return isStoreFailing ? nil : "the store takes writes"
        case "IDENTITY_CONFLICT":
            return mayConflict(asked) ? nil : "nobody else has it"
        case "UNKNOWN_CUSTOMER":
            return complaintAboutUnknown(asked)
        default:
            return "no fault of this run explains it"
        }
    }

    private var isStoreFailing: Bool {
        !plan.faults.isDisjoint(with: [.failedWrites, .failedSyncs, .fullDisk])
    }

    private func complaintAboutWaiting(_ asked: Asked, _ waited: Int64) -> String? {
        guard waited >= asked.timeoutMilliseconds else { return "after \(waited) ms" }
        var awaited: UInt64 = 0
        switch asked.inquiry {
        case .check(let question): awaited = question.minRevision
        case .batch(let questions): awaited = questions.map(\.minRevision).max() ?? 0
        default: return "it waits for none"
        }
        guard awaited > asked.floor else { return "revision \(awaited) had been told before" }
        // Whoever waits is woken within moments.
        guard let told = toldAt(awaited), told + 50 < asked.sentAt + asked.timeoutMilliseconds
        else { return nil }
        return "revision \(awaited) was there at \(told)"
    }

    /// Uploads and links may meet what a transfer has moved.
    private func mayConflict(_ asked: Asked) -> Bool {
        guard case .write(let index) = asked.inquiry else { return false }
        let write = writes[index].write
        switch write.content {
        case .upload(.some, _, _), .link: break
        default: return false
        }
        return writesOfFamily[write.family].contains {
            guard case .transfer = writes[$0].write.content else { return false }
            return writes[$0].attemptCount > 0
        }
    }

    /// Nobody is unknown of whom a write was acknowledged before.
    private func complaintAboutUnknown(_ asked: Asked) -> String? {
        var name: SimulatedName
        switch asked.inquiry {
        case .customer(let asked): name = asked
        case .write(let index):
            guard case .rebuild(let rebuilt, _) = writes[index].write.content else {
                return "it asks for nobody"
            }
            name = rebuilt
        default: return "a check answers it"
        }
        let certain = writesOfFamily[family(of: name)].filter {
            membership(of: $0, in: asked.floor) == .inside
        }
        let model = FamilyModel(certain.map { writes[$0].write })
        return model.person(name) == .unknown || model.person(name) == .unpredicted
            ? nil : "revision \(asked.floor) knows it"
    }
}
