internal import Wire

/// Batches of checks: one frame asks about many customers, every result is compared.
///
/// What a request remembers is the seed that its customers are drawn from: drawing them again for
/// the comparison costs less than keeping them.
struct CheckBatchDialogue: LoadDialogue, ~Copyable {
    private let templates: CheckTemplates
    private let picker: CustomerPicker
    private let population: CheckPopulation
    private let batchCount: Int
    private var random: RandomSource

    init(_ script: CheckScript, _ place: ConnectionPlace) {
        templates = CheckTemplates(script.population)
        picker = CustomerPicker(
            script.selection, customerCount: script.population.customerCount)
        population = script.population
        batchCount = script.batchCount
        random = place.random
    }

    mutating func appendRequest(_ number: UInt64, to output: inout OutputBuffer) -> UInt64 {
        let seed = random.next()
        var envelope = MessageWriter()
        envelope.fixedVarint(1, Patch.idBase | number & Patch.idMask)
        envelope.text(4, population.apiKey)
        var customers = RandomSource(seed: seed)
        var byteCount = 0
        for _ in 0..<batchCount {
            let index = picker.next(&customers)
            byteCount += templates.fieldByteCount(shape: population.shape(Int(index)))
        }
        // The tag of the batch, and its length: its bytes follow one by one.
        envelope.varint(11 << 3 | 2)
        envelope.varint(UInt64(byteCount))
        let frame = FrameEncoder.begin(in: &output)
        output.append(envelope.bytes.span)
        customers = RandomSource(seed: seed)
        for _ in 0..<batchCount {
            let index = picker.next(&customers)
            output.append(templates.field(customer: index, shape: population.shape(Int(index))))
        }
        FrameEncoder.end(in: &output, mark: frame)
        return seed
    }

    mutating func take(
        _ input: Span<UInt8>, _ ledger: inout AnswerLedger, to output: inout OutputBuffer
    ) -> Int {
        var position = 0
        while let frame = AnswerFrame.next(in: input, from: position, &ledger) {
            position = frame.end
            guard let seed = ledger.answer(frame.number, checkCount: batchCount) else { continue }
            guard let wrong = firstWrong(frame, input, seed) else { continue }
            ledger.reportWrong(
                wrong.what + AnswerFrame.words(of: input.extracting(frame.body)),
                expected: wrong.expected, found: input.extracting(wrong.found))
        }
        return position
    }

    /// The first thing that is wrong with a batch of answers; nil = all is right.
    private func firstWrong(
        _ frame: AnswerFrame, _ input: Span<UInt8>, _ seed: UInt64
    ) -> (what: String, expected: [UInt8], found: Range<Int>)? {
        guard let range = frame.message(tag: 0x5A, in: input) else {
            return ("no batch: ", [], frame.body)
        }
        var customers = RandomSource(seed: seed)
        var position = range.lowerBound
        for place in 0..<batchCount {
            let index = picker.next(&customers)
            let shape = population.shape(Int(index))
            guard let result = Self.result(in: input, from: position, until: range.upperBound)
            else { return ("result \(place) of \(batchCount) is missing: ", [], range) }
            if !templates.isRight(input.extracting(result), customer: index, shape: shape) {
                let expected = Array(templates.answer(customer: index, shape: shape))
                return ("result \(place), customer \(index): ", expected, result)
            }
            position = result.upperBound
        }
        // What is left is the revision, or nothing.
        if position < range.upperBound, input[position] != 0x10 {
            return ("more than \(batchCount) results: ", [], position..<range.upperBound)
        }
        return nil
    }

    /// Where the result that begins at `position` lies, its tag and length left out.
    private static func result(
        in input: Span<UInt8>, from position: Int, until end: Int
    ) -> Range<Int>? {
        guard position + 2 <= end, input[position] == 0x0A else { return nil }
        var byteCount = Int(input[position + 1])
        var start = position + 2
        if byteCount >= 0x80 {
            guard start < end, input[start] < 0x80 else { return nil }
            byteCount = byteCount & 0x7F | Int(input[start]) << 7
            start += 1
        }
        return byteCount <= end - start ? start..<start + byteCount : nil
    }
}
