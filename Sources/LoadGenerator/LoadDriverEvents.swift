internal import CLinux
internal import Glibc
internal import OpenSSL
internal import Synchronization
internal import Wire

extension LoadDriver where Dialogue: ~Copyable {
    /// One wait, and what it brings.
    mutating func pollOnce() throws(LoadError) {
        let wait = waitNanoseconds()
        if wait == 0, idleFrom == nil, clock.isMeasuring { idleFrom = LoadClock.threadTime }
        let count = try poller.wait(nanoseconds: wait)
        now = LoadClock.now
        if count == 0 {
            if wait > 0 { endIdling() }
            if now - lastAnswerAt > plan.stallNanoseconds {
                guard hasInFlight else {
                    lastAnswerAt = now
                    return
                }
                throw .stalled(nanoseconds: plan.stallNanoseconds)
            }
            return
        }
        endIdling()
        try handle(count)
        publish()
    }

    /// There is something to do again. One look at the thread's clock (0.3 us) for each stretch of
    /// polls, not for each poll.
    mutating func endIdling() {
        guard let start = idleFrom else { return }
        idleFrom = nil
        idlePollNanoseconds += LoadClock.threadTime - start
    }

    private var hasInFlight: Bool {
        (0..<connectionCount).contains { unsafe connections[$0].ledger.inFlightCount > 0 }
    }

    /// How long nothing is to be done unless something comes.
    private func waitNanoseconds() -> UInt64 {
        var until = min(clock.boundary, now + Self.pollNanosecondsMax)
        if let schedule {
            // Instants in the past wait for a place on a connection, which comes with an answer.
            if schedule.next > now {
                if schedule.next - now <= Self.spinNanosecondsMax { return 0 }
                until = min(until, schedule.next - Self.spinNanosecondsMax)
            }
        }
        return until > now ? until - now : 0
    }

    /// Takes what the last wait has found.
    mutating func handle(_ eventCount: Int) throws(LoadError) {
        for index in 0..<eventCount {
            let event = poller.event(index)
            if event.isWritable { try flush(event.token) }
            guard event.isReadable else { continue }
            try receive(event.token)
            if isSending, schedule == nil { try refill(event.token) }
        }
    }

    /// Reads once and hands what came to the dialogue.
    mutating func receive(_ index: Int) throws(LoadError) {
        let connection = unsafe connections + index
        let leftoverCount = unsafe connection.pointee.leftover.count
        if leftoverCount > 0 { try restore(index, leftoverCount) }
        let count =
            if let channel = unsafe connection.pointee.channel {
                try receiveEncrypted(index, channel, after: leftoverCount)
            } else {
                unsafe clinux_receive(
                    connection.pointee.socket, input + leftoverCount,
                    inputCapacity - leftoverCount)
            }
        if count == -Int64(EAGAIN) { return try keep(index, from: 0, of: leftoverCount) }
        guard count > 0 else { throw .connectionLost(code: Int32(-count)) }
        let total = leftoverCount + Int(count)
        let bytes = unsafe Span(_unsafeStart: input, count: total)
        let consumed = try take(index, bytes)
        if consumed < total { try keep(index, from: consumed, of: total) }
        // An acknowledgement leaves with the next requests, or now when there are none.
        if !scratch.isEmpty, !isSending || schedule != nil { try flush(index) }
    }

    /// Reads once and decrypts; as `clinux_receive`, and a record that is not whole counts as
    /// nothing.
    private mutating func receiveEncrypted(
        _ index: Int, _ channel: TLSChannel, after leftoverCount: Int
    ) throws(LoadError) -> Int64 {
        // The first half is for what was decrypted: `restore` has made room for more than one read.
        let encrypted = unsafe input + inputCapacity - TLSBuffers.inputByteCountMax
        let count = unsafe clinux_receive(
            connections[index].socket, encrypted, TLSBuffers.inputByteCountMax)
        guard count > 0 else { return count }
        let target = unsafe input + leftoverCount
        var decryptedCount = 0
        channel.receive(unsafe Span(_unsafeStart: encrypted, count: Int(count))) { plaintext in
            decryptedCount = plaintext.count
            unsafe plaintext.withUnsafeBufferPointer { source in
                guard let base = source.baseAddress else { return }
                unsafe target.update(from: base, count: source.count)
            }
        }
        if let failure = channel.failure { throw .refused("\(failure)") }
        if decryptedCount > 0 { return Int64(decryptedCount) }
        return channel.state == .ended ? 0 : -Int64(EAGAIN)
    }

    private mutating func take(_ index: Int, _ bytes: Span<UInt8>) throws(LoadError) -> Int {
        let connection = unsafe connections + index
        guard unsafe connection.pointee.isOpen else { return try takeGreeting(index, bytes) }
        unsafe connection.pointee.ledger.now = now
        let before = unsafe tally.pointee.answerCount
        let consumed = unsafe connection.pointee.dialogue.take(
            bytes, &connection.pointee.ledger, to: &scratch)
        if let failure = unsafe connection.pointee.ledger.failure {
            throw .protocolViolation(failure)
        }
        let answered = unsafe tally.pointee.answerCount - before
        if answered > 0 {
            lastAnswerAt = now
            if clock.isMeasuring, isSending { count(answered) }
        }
        return consumed
    }

    private mutating func takeGreeting(
        _ index: Int, _ bytes: Span<UInt8>
    ) throws(LoadError) -> Int {
        let step = unsafe connections[index].dialogue.takeGreeting(bytes, to: &scratch)
        try flush(index)
        switch step {
        case .more(let consumed): return consumed
        case .done(let consumed):
            unsafe connections[index].isOpen = true
            return consumed
        case .refused(let words): throw .refused(words)
        }
    }

    /// Counts answers in the running slice of time.
    private mutating func count(_ answerCount: UInt64) {
        let slice = clock.slice(of: now)
        while outcome.slices.count <= slice { outcome.slices.append(0) }
        outcome.slices[slice] += UInt32(clamping: answerCount)
    }

    /// Puts what an earlier read had left in front of what will be read.
    private mutating func restore(_ index: Int, _ byteCount: Int) throws(LoadError) {
        if byteCount > inputCapacity / 2 {
            guard inputCapacity < Self.inputByteCountMax else {
                throw .protocolViolation("one answer is longer than 32 MiB")
            }
            unsafe input.deallocate()
            inputCapacity *= 2
            unsafe input = .allocate(capacity: inputCapacity)
        }
        let target = unsafe input
        unsafe connections[index].leftover.bytes.withUnsafeBufferPointer { source in
            guard let base = source.baseAddress else { return }
            unsafe target.update(from: base, count: source.count)
        }
        unsafe connections[index].leftover.removeAll()
    }

    private mutating func keep(_ index: Int, from start: Int, of count: Int) throws(LoadError) {
        guard start < count else { return }
        let rest = unsafe Span(_unsafeStart: input + start, count: count - start)
        unsafe connections[index].leftover.append(rest)
    }

    /// Closed loop: sends as many requests as were answered, by one write.
    mutating func refill(_ index: Int) throws(LoadError) {
        let room = plan.depth - (unsafe connections[index].ledger.inFlightCount)
        for _ in 0..<max(0, room) { append(index, intended: now) }
        if !scratch.isEmpty { try flush(index) }
    }

    /// Open loop: sends what the schedule has come to, as far as the connections have room. They
    /// take turns; far behind, each gets several at once, as they then leave by one write.
    mutating func sendDue() throws(LoadError) {
        guard var schedule, schedule.next <= now else { return }
        endIdling()
        let turnCount = max(1, schedule.dueCount(at: now) / connectionCount)
        var fullCount = 0
        while schedule.next <= now, fullCount < connectionCount {
            let index = cursor
            cursor = cursor + 1 == connectionCount ? 0 : cursor + 1
            let room = plan.depth - (unsafe connections[index].ledger.inFlightCount)
            guard room > 0 else {
                fullCount += 1
                continue
            }
            fullCount = 0
            var count = 0
            while count < min(room, turnCount), schedule.next <= now {
                if clock.isMeasuring { noteSendDelay(now - schedule.next) }
                append(index, intended: schedule.next)
                schedule.advance()
                count += 1
            }
            try flush(index)
        }
        self.schedule = schedule
    }

    private mutating func noteSendDelay(_ nanoseconds: UInt64) {
        if nanoseconds > outcome.sendDelayNanosecondsMax {
            outcome.sendDelayNanosecondsMax = nanoseconds
        }
    }

    private mutating func append(_ index: Int, intended: UInt64) {
        let connection = unsafe connections + index
        let number = unsafe connection.pointee.ledger.nextNumber()
        let subject = unsafe connection.pointee.dialogue.appendRequest(number, to: &scratch)
        unsafe connection.pointee.ledger.send(number, intended: intended, subject: subject)
    }

    /// Sends what is to be said on a connection; the kernel's room decides how much of it.
    mutating func flush(_ index: Int) throws(LoadError) {
        let connection = unsafe connections + index
        try encrypt(index)
        if unsafe connection.pointee.pending.isEmpty {
            guard !scratch.isEmpty else { return }
            let sent = try LoadSocket.send(scratch.bytes, to: unsafe connection.pointee.socket)
            scratch.consume(sent)
            if scratch.isEmpty { return }
        }
        unsafe connection.pointee.pending.append(scratch.bytes)
        scratch.removeAll()
        let sent = try LoadSocket.send(
            unsafe connection.pointee.pending.bytes, to: unsafe connection.pointee.socket)
        unsafe connection.pointee.pending.consume(sent)
        let mustWatch = unsafe !connection.pointee.pending.isEmpty
        if unsafe mustWatch != connection.pointee.isWatchedForOutput {
            try poller.change(
                unsafe connection.pointee.socket, token: index, withOutput: mustWatch)
            unsafe connection.pointee.isWatchedForOutput = mustWatch
        }
    }

    /// With TLS: what is to be sent becomes records.
    private mutating func encrypt(_ index: Int) throws(LoadError) {
        guard let buffers = tlsBuffers, !scratch.isEmpty,
            let channel = unsafe connections[index].channel
        else { return }
        do throws(OpenSSLError) {
            try channel.send(scratch.bytes)
        } catch {
            throw .refused("\(error)")
        }
        scratch.removeAll()
        scratch.append(buffers.output)
        buffers.removeOutput()
    }

    /// Tells the watcher how far we are, every 50 ms.
    private mutating func publish() {
        guard now - publishedAt > Self.pollNanosecondsMax else { return }
        publishedAt = now
        let count = unsafe tally.pointee.answerCount
        board.answerCount.add(count - publishedAnswerCount, ordering: .relaxed)
        publishedAnswerCount = count
    }
}
