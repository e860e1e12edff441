import Testing

@testable import EntitledClient
@testable import entitlectl

@Suite struct ImportRowsTests {
    private let customer = [
        "customer_id": "a", "customer_kind": "customer_id", "household_id": "", "links": "",
    ]
    private let transaction = [
        "customer_id": "704", "customer_kind": "app_transaction_id", "transaction_id": "1",
        "signed_payload": "t", "signed_renewal": "", "dateless_revoke_at": "",
        "grant_notification_at": "2026-01-01T00:00:00.005Z", "active_status_at": "",
        "dated_copy_at": "", "chain_linked": "false",
    ]

    private func fault(_ cells: [String: String]) -> String? {
        do throws(LineFault) {
            _ = try ImportRow(cells)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `a customer is who he was`() throws {
        #expect(
            try ImportRow(customer)
                == .customer(ImportedCustomer(customerID: "a", householdID: "", links: [])))
        var cells = customer
        cells["household_id"] = "h"
        cells["links"] = "app_account_token:t 12@original_transaction_id:a%20b%25"
        let links = [
            LinkedIdentity(identity: .appAccountToken("t")),
            LinkedIdentity(identity: .originalTransaction("a b%"), movedAtRevision: 12),
        ]
        #expect(
            try ImportRow(cells)
                == .customer(ImportedCustomer(customerID: "a", householdID: "h", links: links)))
        cells = customer
        for (count, hasTransactions) in [("", false), ("0", false), ("7", true)] {
            cells["transactions"] = count
            let expected = ImportedCustomer(
                customerID: "a", householdID: "", links: [], hasTransactions: hasTransactions)
            #expect(try ImportRow(cells) == .customer(expected))
        }
        cells = customer
        cells["customer_kind"] = "original_transaction_id"
        #expect(
            try ImportRow(cells)
                == .customer(ImportedCustomer(customerID: nil, householdID: "", links: [])))
    }

    @Test func `a transaction is what it was`() throws {
        var evidence = TransactionEvidence()
        evidence.grantNotificationMilliseconds = 1_767_225_600_005
        var expected = ImportedTransaction(
            customer: .appTransaction("704"), signedTransaction: "t", evidence: evidence)
        #expect(try ImportRow(transaction) == .transaction(expected))
        var cells = transaction
        (cells["signed_renewal"], cells["chain_linked"]) = ("r", "true")
        (expected.signedRenewal, expected.isChainLinked) = ("r", true)
        #expect(try ImportRow(cells) == .transaction(expected))
    }

    @Test func `every column that counts has to be there`() {
        for column in ImportColumn.ofCustomers {
            var cells = customer
            cells[column.rawValue] = nil
            #expect(fault(cells) == "MISSING_COLUMN", "\(column)")
        }
        for column in ImportColumn.ofTransactions {
            var cells = transaction
            cells[column.rawValue] = nil
            #expect(fault(cells) == "MISSING_COLUMN", "\(column)")
        }
    }

    @Test(arguments: [
        ("signed_payload", "", "SIGNED_PAYLOAD_MISSING"), ("customer_id", "", "INVALID_IDENTIFIER"),
        ("customer_id", String(repeating: "é", count: 65), "INVALID_IDENTIFIER"),
        ("customer_kind", "", "MALFORMED_VALUE"), ("customer_kind", "Customer", "MALFORMED_VALUE"),
        ("dated_copy_at", "soon", "MALFORMED_VALUE"), ("dated_copy_at", "0", "MALFORMED_VALUE"),
        ("chain_linked", "", "MALFORMED_VALUE"), ("chain_linked", "TRUE", "MALFORMED_VALUE"),
    ])
    func `a value that is none is refused`(column: String, value: String, reason: String) {
        var cells = transaction
        cells[column] = value
        #expect(fault(cells) == reason)
    }

    @Test(arguments: [
        "x", "x:", "customer_id:a", "original_transaction_id:", "0@app_account_token:t",
        "-1@app_account_token:t", "app_account_token:%", "app_account_token:%4",
        "app_account_token:%GG", "app_account_token:%FF", ":a", "@app_account_token:t",
    ])
    func `a link that is none is refused`(text: String) {
        var cells = customer
        cells["links"] = text
        #expect(fault(cells) == "MALFORMED_VALUE")
    }

    @Test(arguments: ["a", "a b", "%", "\u{0}", "é\u{301}", ":@", "\u{7F}", "\u{301}", "'=1"])
    func `any name comes back from a cell as it was`(name: String) throws {
        for link in [
            LinkedIdentity(identity: .originalTransaction(name)),
            LinkedIdentity(identity: .appTransaction(name), movedAtRevision: .max),
        ] {
            #expect(!link.exported.utf8.contains { $0 <= 0x20 })
            let found = try #require(LinkedIdentity(exported: Substring(link.exported)))
            #expect(found == link)
            #expect(found.exported.utf8.elementsEqual(link.exported.utf8))
        }
    }
}
