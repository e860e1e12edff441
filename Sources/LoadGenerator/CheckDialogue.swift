internal import Wire

/// Plain checks: one frame asks about one customer, every answer is compared with what is known.
struct CheckDialogue: LoadDialogue, ~Copyable {
    /// The bits of a subject that hold the customer's index; the shape is above them.
    private static var indexBitCount: UInt64 { 40 }

    private let templates: CheckTemplates
    private let picker: CustomerPicker
    private let population: CheckPopulation
    private var random: RandomSource

    init(_ script: CheckScript, _ place: ConnectionPlace) {
        templates = CheckTemplates(script.population)
        picker = CustomerPicker(
            script.selection, customerCount: script.population.customerCount)
        population = script.population
        random = place.random
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        let index = picker.next(&random)
        let shape = population.shape(Int(index))
        output.append(templates.request(number, customer: index, shape: shape))
        return index | UInt64(shape) << Self.indexBitCount
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        var position = 0
        while let frame = AnswerFrame.next(in: input, from: position, &ledger) {
            check(frame, input, &ledger)
            position = frame.end
        }
        return position
    }

    @inline(__always)
    private func check(
        _ frame: AnswerFrame, _ input: Span<UInt8>, _ ledger: inout AnswerLedger
    ) {
        guard let subject = ledger.answer(frame.number) else { return }
        let index = subject & (1 << Self.indexBitCount - 1)
        let shape = Int(subject >> Self.indexBitCount)
        if let range = frame.message(tag: 0x52, in: input),
            templates.isRight(input.extracting(range), customer: index, shape: shape)
        {
            return
        }
        report(frame, input, index, shape, &ledger)
    }

    /// Not inlined: what is rare must not make the loop longer.
    @inline(never)
    private func report(
        _ frame: AnswerFrame, _ input: Span<UInt8>, _ index: UInt64, _ shape: Int,
        _ ledger: inout AnswerLedger
    ) {
        let body = input.extracting(frame.body)
        ledger.reportWrong(
            "customer \(index), shape \(shape): \(AnswerFrame.words(of: body))",
            expected: Array(templates.answer(customer: index, shape: shape)), found: body)
    }
}

extension Array where Element == UInt8 {
    /// A copy of `bytes`.
    init(_ bytes: Span<UInt8>) {
        self.init()
        reserveCapacity(bytes.count)
        for index in bytes.indices { append(bytes[index]) }
    }
}
