import Entitlements
import Synchronization

// Questions that are answered together, a few at a time: while these are worked on, the memory that
// the next ones wait for comes close. A processor has some twenty lines of memory on their way at a
// time, an entry has four or five: so few, and not all at once.

extension CustomerTable {
    /// How many questions are best answered before the next ones are looked at.
    @inlinable package static var stepCount: Int { 4 }

    /// Starts to bring close what some questions will be answered from. Their slots have been asked
    /// for before; see `prefetchSlot`.
    ///
    /// - Precondition: between `beginReading` and `endReading`, on the reader's thread.
    package func approach(_ questions: Span<ProductQuestion>, _ range: Range<Int>) {
        let slots = SlotArray(slots.load(ordering: .acquiring))
        for index in range where questions[index].isForMemory {
            prefetchEntry(questions[index].hash, in: slots)
        }
    }

    /// Answers what it can of the questions at `range`, in order.
    ///
    /// Who is not in the table is unknown where `isComplete`, which is what `isComplete` said
    /// before; else, and of long histories and transactions with long ids, nothing is said.
    ///
    /// - Precondition: between `beginReading` and `endReading` of `reader`, on its thread; the
    ///   verdicts mean nothing after it. `verdicts` is as long as `questions`.
    /// - Parameters:
    ///   - questions: their hashes are those of their names.
    ///   - range: which of them.
    ///   - text: what their ranges lie in.
    ///   - nowMilliseconds: what the clock says.
    ///   - isComplete: see above.
    ///   - catalog: what the operator says of products.
    ///   - reader: who reads.
    ///   - verdicts: where to put what is said.
    package func decide(
        _ questions: Span<ProductQuestion>, _ range: Range<Int>, in text: Span<UInt8>,
        at nowMilliseconds: Int64, isComplete: Bool, under catalog: CompiledCatalog,
        reader: ReaderSlot, into verdicts: inout MutableSpan<ProductVerdict>
    ) {
        preconditionReading(reader)
        let slots = SlotArray(slots.load(ordering: .acquiring))
        for index in range {
            let question = questions[index]
            guard question.isForMemory else {
                verdicts[index] = ProductVerdict()
                continue
            }
            verdicts[index] = verdict(
                question, in: text, at: nowMilliseconds, isComplete: isComplete, under: catalog,
                in: slots)
        }
    }

    @inline(__always)
    private func verdict(
        _ question: ProductQuestion, in text: Span<UInt8>, at nowMilliseconds: Int64,
        isComplete: Bool, under catalog: CompiledCatalog, in slots: SlotArray
    ) -> ProductVerdict {
        let name = text.extracting(question.name.range)
        let place = place(question.hash, question.scope, name, in: slots)
        guard place != 0 else {
            return isComplete ? ProductVerdict(.unknownCustomer) : ProductVerdict()
        }
        let snapshot = unsafe snapshot(at: place, nameCount: name.count)
        let product = text.extracting(question.product.range)
        if let verdict = unsafe PlainSnapshot.verdict(
            UnsafeRawBufferPointer(snapshot), product, at: question.instant,
            orNow: nowMilliseconds)
        {
            return verdict
        }
        return Self.verdict(
            unsafe Span(_unsafeElements: snapshot), product, question, at: nowMilliseconds,
            under: catalog)
    }

    /// The same by the rules, from a snapshot of any kind.
    @inline(never)
    private static func verdict(
        _ snapshot: Span<UInt8>, _ product: Span<UInt8>, _ question: ProductQuestion,
        at nowMilliseconds: Int64, under catalog: CompiledCatalog
    ) -> ProductVerdict {
        let view = SnapshotView(snapshot)
        guard !view.isLong else { return ProductVerdict() }
        guard
            let answer = view.answer(
                ofProduct: product, at: question.instant, orNow: nowMilliseconds, under: catalog,
                in: question.world)
        else { return ProductVerdict(.noPurchase) }
        // What could not be noted for the bill.
        guard answer.transactionID.count <= UsageTable.notedIDByteCountMax else {
            return ProductVerdict()
        }
        return ProductVerdict(answer)
    }
}
