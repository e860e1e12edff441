import Testing
import Wire

@Suite struct CheckFieldsTests {
    @Test func `a range names bytes of the body`() {
        let body: [UInt8] = [10, 11, 12, 13]
        let range = ByteRange(start: 1, byteCount: 2)
        #expect(range.indices == 1..<3)
        #expect(Text(copying: body.span.extracting(range)).bytes == [11, 12])
        #expect(body.span.extracting(ByteRange.empty).count == 0)
        #expect(ByteRange.empty.isEmpty && !range.isEmpty)
    }

    @Test func `a range past the body traps`() async {
        await #expect(processExitsWith: .failure) {
            let body: [UInt8] = [1, 2]
            _ = body.span.extracting(ByteRange(start: 1, byteCount: 2)).count
        }
    }

    @Test func `a decoded check is small`() {
        #expect(MemoryLayout<CheckEnvelope>.size <= 128)
    }

    /// Texts in every position to each other, of every length that matters, with a byte beyond
    /// ASCII here and there.
    @Test(arguments: [0, 1, 7, 8, 15, 16, 17, 40, 127, 128, 129])
    func `names are judged by the rule, however they lie`(count: Int) {
        for otherCount in [0, 1, 14, 33, 128, 129] {
            for gap in [0, 2, 7, 8, 200] {
                let end = count + gap + otherCount
                for strange in [nil, 0, count - 1, count, count + gap, end - 1] {
                    var body = [UInt8](repeating: 0x61, count: end)
                    if let strange, body.indices.contains(strange) { body[strange] = 0xFF }
                    var check = CheckFields()
                    (check.customerKind, check.subjectKind) = (.customerID, .product)
                    check.customer = ByteRange(start: 0, byteCount: count)
                    check.subject = ByteRange(start: count + gap, byteCount: otherCount)
                    let customer = Text(copying: body.span.extracting(check.customer))
                    let subject = Text(copying: body.span.extracting(check.subject))
                    let expected: CheckFault =
                        !Identifier.isValid(customer)
                        ? .customer : !Identifier.isValid(subject) ? .subject : .none
                    let found = check.fault(in: body.span)
                    #expect(found == expected, "\(count) \(gap) \(otherCount)")
                    check.atMilliseconds = -1
                    let late = check.fault(in: body.span)
                    #expect(late == (expected == .none ? .instant : expected))
                    check.subjectKind = .none
                    let missing = check.fault(in: body.span)
                    #expect(missing == (expected == .customer ? .customer : .missingSubject))
                }
            }
        }
    }
}
