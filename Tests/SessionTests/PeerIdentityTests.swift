import Session
import Testing

@Suite struct PeerIdentityTests {
    @Test func `a peer that nothing is known of has neither address nor names`() {
        let peer = PeerIdentity()
        #expect(peer.address.isEmpty)
        #expect(peer.certificateNames.isEmpty)
    }

    @Test func `peers are told apart by what their certificates say`() {
        let backend = PeerIdentity(address: "10.0.0.7", certificateNames: ["dns:backend.example"])
        let finance = PeerIdentity(address: "10.0.0.7", certificateNames: ["dns:finance.example"])
        #expect(backend != finance)
        #expect(Set([backend, finance, backend]).count == 2)
    }
}
