internal import Authorization
internal import Entitlements
internal import Service

/// Reads the keys file, at the start and whenever it has changed.
///
/// Apart from the configuration: a revoked key must end although something else in the
/// configuration is wrong. The path is that of the start.
final class KeysReload {
    /// How a reading ended.
    enum Outcome: Equatable {
        /// The same records as before.
        case unchanged
        /// Other records apply from now on.
        case replaced
        /// What was there before goes on to apply.
        case refused(String)
    }

    let path: String
    private let board: KeyBoard
    private let worlds: [KeyRing.World]
    private let readFile: NamedFile.Reading
    private var file: KeysFile

    init(
        path: String, start: KeysFile, board: KeyBoard, worlds: [KeyRing.World],
        readFile: @escaping NamedFile.Reading
    ) {
        self.path = path
        self.board = board
        self.worlds = worlds
        self.readFile = readFile
        file = start
    }

    /// Reads the file again.
    func run() -> Outcome {
        do throws(ConfigurationFailure) {
            let new = try Self.read(path, by: readFile)
            guard new != file else { return .unchanged }
            file = new
            board.replace(with: KeyRing(new, worlds: worlds, previous: board.ring))
            return .replaced
        } catch {
            return .refused(error.problems.map(\.message).joined(separator: "; "))
        }
    }

    /// The ring of a configuration: open where no keys file is named.
    static func ring(_ file: KeysFile?, worlds: [KeyRing.World]) -> KeyRing {
        file.map { KeyRing($0, worlds: worlds) } ?? KeyRing()
    }

    /// The worlds that a service serves, in its order.
    static func worlds(of reader: AccessReader) -> [KeyRing.World] {
        reader.serverInfo().scopes.map {
            KeyRing.World(
                bundleID: $0.bundleID, environment: Int32($0.environment.rawValue))
        }
    }

    /// Reads and judges a keys file. An empty one is one: nobody may call.
    ///
    /// - Throws: that it cannot be read, or what in it is not understood.
    static func read(
        _ path: String, by readFile: NamedFile.Reading
    ) throws(ConfigurationFailure) -> KeysFile {
        func failure(_ message: String) -> ConfigurationFailure {
            ConfigurationFailure(problems: [
                ConfigurationProblem("the keys file `\(path)`: \(message)")
            ])
        }
        let bytes: [UInt8]
        do throws(FileReadError) {
            bytes = try readFile(path, KeysFile.byteCountMax)
        } catch {
            throw failure(error.text)
        }
        do throws(KeysFileError) {
            return try KeysFile(bytes)
        } catch {
            throw failure(error.description)
        }
    }
}
