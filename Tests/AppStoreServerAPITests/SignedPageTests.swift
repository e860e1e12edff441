import AppStore
@testable import AppStoreServerAPI
import Testing

@Suite struct SignedPageTests {
    private func page(_ text: String) throws -> SignedPage {
        SignedPage(try JSONObject(Array(text.utf8)), list: "list")
    }

    @Test func `items come in order, and what is no string is known as such`() throws {
        let items = try page(#"{"list":["a",7,null,{},"b"]}"#).items(of: .refundHistory)
        #expect(items == [Array("a".utf8), nil, nil, nil, Array("b".utf8)])
    }

    @Test(arguments: [#"{}"#, #"{"list":null}"#, #"{"list":[]}"#])
    func `a list that is absent is empty`(text: String) throws {
        #expect(try page(text).items(of: .refundHistory).isEmpty)
    }

    @Test(arguments: [#"{"list":"a"}"#, #"{"list":{}}"#, #"{"list":7}"#])
    func `a list that is none is refused`(text: String) throws {
        let page = try page(text)
        #expect(throws: AppStoreServerError.self) { try page.items(of: .refundHistory) }
    }

    @Test func `the next page is asked for only when there is one`() throws {
        #expect(
            try page(#"{"hasMore":true,"revision":"r"}"#).next("revision", of: .refundHistory)
                == "r")
        #expect(
            try page(#"{"hasMore":false,"revision":"r"}"#).next("revision", of: .refundHistory)
                == nil)
        let long = #"{"hasMore":true,"revision":12345678901234567890}"#
        #expect(try page(long).next("revision", of: .refundHistory) == "12345678901234567890")
    }

    @Test(arguments: [
        #"{}"#, #"{"revision":"r"}"#, #"{"hasMore":1,"revision":"r"}"#, #"{"hasMore":true}"#,
        #"{"hasMore":true,"revision":""}"#, #"{"hasMore":null,"revision":"r"}"#,
    ])
    func `a page that may be one of many never passes for the last`(text: String) throws {
        let page = try page(text)
        #expect(throws: AppStoreServerError.self) { try page.next("revision", of: .refundHistory) }
    }
}
