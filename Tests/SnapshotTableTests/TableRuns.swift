import Entitlements
import SnapshotTable

/// Questions to a table, put down and asked as a loop does.
struct TableRuns {
    /// What was asked, to be put down as ranges of one text.
    struct Asked {
        var name: String
        var product: String
        var instant: Int64 = 0
        var isForMemory = true
    }

    /// What was answered, as values.
    struct Answered: Equatable {
        var isAnswered: Bool
        var reason = AccessReason.unspecified
        var ownership = Ownership.unspecified
        var validUntil: Int64 = 0
        var transactionID = ""
        var originalTransactionID = ""
    }

    let catalog = CompiledCatalog([
        Catalog(products: ["a": Catalog.Product(entitlements: ["plus"])])
    ])

    /// Asks a table all of it, a few at a time as a loop does.
    func answers(
        of table: CustomerTable, _ reader: ReaderSlot, _ asked: [Asked], at now: Int64,
        isComplete: Bool = true
    ) -> [Answered] {
        var text: [UInt8] = []
        var questions: [ProductQuestion] = []
        for one in asked {
            var question = ProductQuestion()
            question.hash = table.hash(scope: 1, name: Array(one.name.utf8).span)
            question.name = append(one.name, to: &text)
            question.product = append(one.product, to: &text)
            (question.instant, question.scope) = (one.instant, 1)
            question.isForMemory = one.isForMemory
            questions.append(question)
        }
        var verdicts = [ProductVerdict](repeating: ProductVerdict(), count: asked.count)
        table.beginReading(reader)
        defer { table.endReading(reader) }
        for question in questions { table.prefetchSlot(question.hash) }
        for start in stride(from: 0, to: asked.count, by: CustomerTable.stepCount) {
            let range = start..<min(start + CustomerTable.stepCount, asked.count)
            table.approach(questions.span, range)
            var places = verdicts.mutableSpan
            table.decide(
                questions.span, range, in: text.span, at: now, isComplete: isComplete,
                under: catalog, reader: reader, into: &places)
        }
        return verdicts.map { verdict in
            Answered(
                isAnswered: verdict.isAnswered, reason: verdict.reason,
                ownership: verdict.ownership, validUntil: verdict.validUntil,
                transactionID: string(verdict.transactionID),
                originalTransactionID: string(verdict.originalTransactionID))
        }
    }

    private func append(_ part: String, to text: inout [UInt8]) -> TextRange {
        let start = text.count
        text += part.utf8
        return TextRange(start: UInt32(start), count: UInt16(text.count - start))
    }

    private func string(_ span: Span<UInt8>) -> String { text(span) }

    /// What the view of a snapshot says, which is what the rules say.
    func oracle(_ snapshot: [UInt8], _ asked: Asked, at now: Int64) -> Answered {
        let view = SnapshotView(snapshot.span)
        let product = Array(asked.product.utf8)
        guard
            let answer = view.answer(
                ofProduct: product.span, at: asked.instant, orNow: now, under: catalog, in: 0)
        else { return Answered(isAnswered: true, reason: .noPurchase) }
        let id = text(answer.transactionID)
        guard id.utf8.count <= UsageTable.notedIDByteCountMax else {
            return Answered(isAnswered: false)
        }
        return Answered(
            isAnswered: true, reason: answer.decision.reason, ownership: answer.ownership,
            validUntil: answer.decision.validUntil, transactionID: id,
            originalTransactionID: text(answer.originalTransactionID))
    }
}
