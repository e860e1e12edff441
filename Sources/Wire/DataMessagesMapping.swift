internal import CMessages
internal import CProtobufC

// Field by field; see `FieldExchange`.

extension Message.CreateBackupRequest: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CreateBackupRequest>) {
        unsafe entitled__v1__create_backup_request__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CreateBackupRequest>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&name, &c.pointee.name)
        unsafe exchange.flag(&followUp, &c.pointee.follow_up)
    }
}

extension Message.CreateBackupResponse: @unsafe CRepresented {
    static func initialize(_ target: UnsafeMutablePointer<Entitled__V1__CreateBackupResponse>) {
        unsafe entitled__v1__create_backup_response__init(target)
    }

    mutating func exchange<E: FieldExchange>(
        _ c: UnsafeMutablePointer<Entitled__V1__CreateBackupResponse>, _ exchange: E
    ) throws(E.Failure) {
        try unsafe exchange.text(&name, &c.pointee.name)
        try unsafe exchange.text(&path, &c.pointee.path)
        unsafe exchange.flag(&complete, &c.pointee.complete)
        unsafe exchange.number(&revision, &c.pointee.revision)
        unsafe exchange.number(&files, &c.pointee.files)
        unsafe exchange.number(&bytes, &c.pointee.bytes)
        unsafe exchange.number(&bytesDone, &c.pointee.bytes_done)
        unsafe exchange.number(&createdAtMilliseconds, &c.pointee.created_at_ms)
        unsafe exchange.number(&durationMilliseconds, &c.pointee.duration_ms)
    }
}
