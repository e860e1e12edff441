package import AppStore
package import Entitlements

extension AppStoreServerClient {
    /// Fetches the newest copy of one transaction.
    ///
    /// - Parameters:
    ///   - transactionID: A transactionId; not an appTransactionId.
    ///   - scope: The app and environment.
    ///   - deadline: By the wall clock.
    /// - Returns: The transaction, verified.
    /// - Throws: `malformed` also when the transaction is not believed, or another world's.
    package func transaction(
        _ transactionID: String, in scope: Scope, deadline: Timestamp
    ) throws(AppStoreServerError) -> SignedTransaction {
        let endpoint = AppStoreEndpoint.transactionInfo
        let jws = try signedItem(
            "signedTransactionInfo", endpoint, about: transactionID, in: scope, deadline: deadline)
        do throws(AppStoreError) {
            let verified = try verifier.verifyTransaction(jws)
            guard verified.scope == scope else {
                throw .wrongApp("the transaction is of another app or environment than asked")
            }
            return verified.signed
        } catch {
            throw .malformed("\(endpoint.title): \(error.reason), \(error.message)")
        }
    }

    /// Fetches the app transaction of an Apple Account: whose purchases they are.
    ///
    /// - Parameters:
    ///   - id: An appTransactionId or a transactionId of the customer.
    ///   - scope: The app and environment.
    ///   - deadline: By the wall clock.
    /// - Returns: The app transaction, verified.
    /// - Throws: `notFound` with 4040019 where there is none; `malformed` also when it is not
    ///   believed, or another world's.
    package func appTransaction(
        of id: String, in scope: Scope, deadline: Timestamp
    ) throws(AppStoreServerError) -> VerifiedAppTransaction {
        let endpoint = AppStoreEndpoint.appTransactionInfo
        let jws = try signedItem(
            "signedAppTransactionInfo", endpoint, about: id, in: scope, deadline: deadline)
        do throws(AppStoreError) {
            let verified = try verifier.verifyAppTransaction(jws)
            guard verified.scope == scope else {
                throw .wrongApp("the app transaction is of another app or environment than asked")
            }
            return verified
        } catch {
            throw .malformed("\(endpoint.title): \(error.reason), \(error.message)")
        }
    }

    private func signedItem(
        _ name: String, _ endpoint: AppStoreEndpoint, about id: String, in scope: Scope,
        deadline: Timestamp
    ) throws(AppStoreServerError) -> [UInt8] {
        let answer = try runner.answer(
            to: AppStoreQuestion(endpoint, about: id, in: scope), deadline: deadline)
        guard let jws = answer.bytes(name) else {
            throw .malformed("\(endpoint.title): \(name) is absent or no string")
        }
        return jws
    }
}
