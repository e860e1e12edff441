internal import RocksDB
internal import Storage

/// How far a store was when it last acknowledged a change: a number in a file beside the database,
/// which RocksDB knows nothing of.
///
/// The end of a log says nothing about what is no longer there: a log that was cut between two
/// records, or is missing, reads like one that never had more. Whoever finds the database behind
/// the mark knows that acknowledged changes are gone.
struct AcknowledgedMark: Sendable {
    /// The file's name, in the directory of the store.
    static let fileName = "ACKNOWLEDGED"

    /// RocksDB's number of the last acknowledged change; 0: nothing is known.
    let sequence: UInt64
    /// A sentence on a mark that cannot be read; nil where there is none, or a good one.
    let warning: String?

    private let path: String

    /// The mark of the database in `directory`.
    ///
    /// - Throws: `.unavailable`, `.noPermission` where it is there and cannot be read.
    static func read(beside directory: String) throws(StorageError) -> AcknowledgedMark {
        let path = Files.parent(of: directory) + "/" + fileName
        let content = try onFiles(of: directory) { () throws(FileError) in
            try MarkFile.content(of: path)
        }
        return switch content {
        case .none: AcknowledgedMark(sequence: 0, warning: nil, path: path)
        case .number(let number): AcknowledgedMark(sequence: number, warning: nil, path: path)
        case .unreadable:
            AcknowledgedMark(
                sequence: 0,
                warning: "\(path) cannot be understood, so nobody knows whether the logs reach as "
                    + "far as what was acknowledged; it is written anew", path: path)
        }
    }

    /// Refuses data that end before the mark.
    ///
    /// - Parameters:
    ///   - last: The number of the last change that is there.
    ///   - place: The file or directory that ends with it.
    /// - Throws: `.damaged`.
    func check(_ last: UInt64, of place: String) throws(StorageError) {
        guard last < sequence else { return }
        throw .damaged(
            message: "\(place) ends with change \(last); changes \(last + 1) to \(sequence) were "
                + "acknowledged, as \(path) says, and are gone: restore a backup, or repair the "
                + "disk; to go on without them, remove that file")
    }
}
