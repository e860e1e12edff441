import HTTP
import Testing

@Suite struct HTTPMessageTests {
    @Test func `a field is found whatever the case of its name, the first one`() {
        let fields = [HTTPField("A", "1"), HTTPField("Retry-After", "2"), HTTPField("a", "3")]
        #expect(fields.value("retry-AFTER") == "2")
        #expect(fields.value("a") == "1")
        #expect(fields.value("b") == nil)
    }

    @Test func `a request is a GET with nothing in it unless said otherwise`() {
        let request = HTTPRequest(target: "/")
        #expect(request.method == "GET")
        #expect(request.body.isEmpty && request.fields.isEmpty && request.query.isEmpty)
        #expect(HTTPResponse(status: 204).body.isEmpty)
    }
}
