import EntitledClient
import Wire

/// Answers that tests give and expect.
enum Samples {
    static func granted(product: Text = "p", revision: UInt64 = 7) -> Response.Result {
        var message = Message.CheckAccessResponse()
        message.granted = true
        message.reason = .active
        message.ownership = .familyShared
        message.validUntilMilliseconds = 1_800_000_000_000
        message.productID = product
        message.transactionID = "t1"
        message.originalTransactionID = "o1"
        message.revision = revision
        return .checkAccess(message)
    }

    /// Grants to every check, naming its product.
    static func grant(_ received: FakeServer.Received) {
        guard case .checkAccess(let check) = received.request.call,
            case .product(let product) = check.subject
        else { return received.refuse(.invalidArgument, "INVALID_FIELD") }
        received.answer(granted(product: product))
    }

    /// What the client makes of an error that a call throws; nil when it throws none.
    static func error(
        _ body: () async throws(ClientError) -> some Sendable
    ) async -> ClientError? {
        do throws(ClientError) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }
}
