@testable import AppStoreServerAPI
import Testing

@Suite struct RequestRecordTests {
    @Test(arguments: [
        (200, RequestRecord.StatusClass.success), (299, .success), (300, .redirection),
        (400, .refused), (401, .unauthorized), (404, .refused), (429, .throttled), (499, .refused),
        (500, .failed), (503, .failed),
    ])
    func `a status has its class`(status: Int, statusClass: RequestRecord.StatusClass) {
        #expect(RequestRecord.StatusClass(status: status) == statusClass)
    }
}
