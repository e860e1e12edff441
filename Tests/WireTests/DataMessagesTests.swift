import Testing
import Wire

@Suite struct DataMessagesTests {
    private let arena = MessageArena()

    @Test func `a backup is asked for in these bytes`() throws {
        var backup = Message.CreateBackupRequest()
        backup.name = "n"
        backup.followUp = true
        let body = try Oracle.body(Request(id: 1, call: .createBackup(backup)), arena)
        // Field 30 has a tag of two bytes.
        #expect(body == hex("0801 F20105 0A016E 1001"))
    }

    @Test func `a customer to be forgotten is named in these bytes`() throws {
        var forget = Message.ForgetCustomerRequest()
        forget.customer = .customerID("u")
        forget.dryRun = true
        let body = try Oracle.body(Request(id: 1, call: .forgetCustomer(forget)), arena)
        // Field 35 has a tag of two bytes.
        #expect(body == hex("0801 9A0207 0A030A0175 1801"))
    }

    @Test func `what a newer release adds is ignored and the rest is read`() throws {
        let body = hex("0801 F2010A 0A016E 1801 2005 FA0100")
        let response = try Response(decoding: body.span, in: arena)
        guard case .createBackup(let backup) = response.result else {
            Issue.record("\(response)")
            return
        }
        #expect(backup.name == "n" && backup.complete && backup.revision == 5)
    }

    @Test func `an import is asked for in these bytes`() throws {
        var row = Message.ImportedTransaction()
        row.customer = .customerID("a")
        row.signedTransaction = "t"
        row.datedCopyMilliseconds = 5
        row.chainLinked = true
        var batch = Message.ImportTransactionsRequest()
        batch.rows = [row]
        batch.dryRun = true
        let body = try Oracle.body(Request(id: 1, call: .importTransactions(batch)), arena)
        #expect(body == hex("0801 FA0110 120C 0A030A0161 120174 3805 4001 1801"))
    }
}
