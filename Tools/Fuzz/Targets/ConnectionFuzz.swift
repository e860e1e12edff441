/// One connection, driven by a script of reads, writes, time and ends.
enum ConnectionFuzz {
    /// The first byte chooses the limits; then one step after the other until the script ends or
    /// the connection is closed. Whatever happened, it closes once the peer ends its output.
    static func fuzz(_ input: [UInt8]) throws {
        var script = ByteScript(input)
        let peer = try ScriptedPeer(limitsNumber: script.choice(of: 3))
        while !script.isAtEnd, !peer.isClosed {
            try step(peer, &script)
            try peer.judge()
        }
        try peer.finish()
    }

    private static func step(_ peer: ScriptedPeer, _ script: inout ByteScript) throws {
        switch script.choice(of: 12) {
        case 0: try peer.send(script.bytes(Int(script.byte())))
        case 1: try peer.send(framed(script.bytes(Int(script.byte()))))
        case 2:
            // One read holds several checks.
            let request = try peer.request(script.byte(), script.byte(), script.byte())
            try peer.send(Array(repeatElement(request, count: script.choice(of: 20) + 1).joined()))
        case 3:
            // A request in two reads.
            let request = try peer.request(script.byte(), script.byte(), script.byte())
            let cut = script.choice(of: request.count)
            try peer.send(Array(request[..<cut]))
            try peer.send(Array(request[cut...]))
        case 4: try peer.send(try peer.request(script.byte(), script.byte(), script.byte()))
        case 5: peer.takeOutput(script.number())
        case 6: peer.wait(milliseconds: Int64(script.number()))
        case 7: try peer.completeCall(script.choice(of: 8))
        case 8: peer.refuseCall(script.choice(of: 8))
        case 9: peer.endInput()
        case 10: script.byte() < 32 ? peer.drain() : peer.takeOutput(.max)
        default: peer.moveRevision()
        }
    }

    private static func framed(_ body: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
    }
}
