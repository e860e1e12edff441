import Session
import TestSupport
import Testing
import Wire

@Suite struct CallValidationTests {
    @Test(
        arguments: [
            "neither identity nor household", "household and leaving", "a customer id as identity",
            "no customer id",
        ])
    func `a link that says nothing or too much is refused`(what: String) throws {
        let bench = try SessionBench()
        var link = Message.LinkCustomerRequest()
        link.customerID = "a"
        switch what {
        case "household and leaving":
            link.householdID = "h"
            link.leaveHousehold = true
        case "a customer id as identity": link.identity = .customerID("b")
        case "no customer id":
            link.customerID = ""
            link.householdID = "h"
        default: break
        }
        let answer = try bench.ask(Request(id: 1, call: .linkCustomer(link)))
        #expect(
            answer.reason == (what == "no customer id" ? "INVALID_IDENTIFIER" : "INVALID_FIELD"))
        #expect(bench.isIdle)
    }
}

extension CallValidationTests {
    @Test func `each call asks for the scope that it names`() throws {
        let bench = try SessionBench()
        let other = Message.Scope(bundleID: "com.example.other")
        var link = Message.LinkCustomerRequest()
        link.customerID = "a"
        link.householdID = "h"
        link.scope = other
        var get = Message.GetCustomerRequest()
        get.customer = .customerID("a")
        get.scope = other
        var rebuild = Message.RebuildCustomerRequest()
        rebuild.customer = .customerID("a")
        rebuild.scope = other
        for call in [.linkCustomer(link), .getCustomer(get), .rebuildCustomer(rebuild)]
            as [Request.Call]
        {
            #expect(try bench.ask(Request(id: 1, call: call)).reason == "UNKNOWN_SCOPE")
        }
    }

    @Test func `whom a call is about must be said`() throws {
        let bench = try SessionBench()
        for call in [.getCustomer(.init()), .rebuildCustomer(.init()), .linkCustomer(.init())]
            as [Request.Call]
        {
            #expect(try bench.ask(Request(id: 1, call: call)).reason == "INVALID_IDENTIFIER")
        }
    }

    @Test func `an upload may leave its customer open and may not name him wrongly`() throws {
        let bench = try SessionBench()
        var upload = Message.IngestTransactionsRequest()
        upload.signedTransactions = [
            Text(
                try bench.fixtures.transaction(
                    "2000000100000031", product: "meadow.lifetime", purchased: SessionBench.now))
        ]
        #expect(try bench.ask(Request(id: 1, call: .ingestTransactions(upload))).status == .ok)
        upload.customerID = Text([0x61, 0xFF])
        let answer = try bench.ask(Request(id: 2, call: .ingestTransactions(upload)))
        #expect(answer.reason == "INVALID_IDENTIFIER")
    }
}
