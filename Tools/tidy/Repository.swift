internal import FoundationEssentials

/// The text files of a checkout.
struct Repository {
    let files: [SourceFile]
    /// Files that are no UTF-8 text although their names say so.
    let undecodable: [String]
    /// Whether this is a whole checkout, not a few files that were made up.
    let isCheckout: Bool

    init(files: [SourceFile], undecodable: [String] = [], isCheckout: Bool = false) {
        self.files = files
        self.undecodable = undecodable
        self.isCheckout = isCheckout
    }

    /// Reads the checkout at `root`.
    ///
    /// Throws what `FileManager` throws.
    init(root: String) throws {
        var files: [SourceFile] = []
        var undecodable: [String] = []
        for path in try Self.paths(below: root) {
            guard let bytes = FileManager.default.contents(atPath: "\(root)/\(path)") else {
                continue
            }
            if let text = String(validating: bytes, as: UTF8.self) {
                files.append(SourceFile(path: path, text: text))
            } else {
                undecodable.append(path)
            }
        }
        self.init(files: files, undecodable: undecodable, isCheckout: true)
    }

    /// The paths of the text files, sorted; hidden folders except `.ci` and `.github` are skipped.
    private static func paths(below root: String) throws -> [String] {
        var paths: [String] = []
        var folders = [""]
        while let folder = folders.popLast() {
            let entries = try FileManager.default.contentsOfDirectory(
                atPath: folder.isEmpty ? root : "\(root)/\(folder)")
            for name in entries {
                let path = folder.isEmpty ? name : "\(folder)/\(name)"
                var isFolder = false
                guard
                    FileManager.default.fileExists(
                        atPath: "\(root)/\(path)", isDirectory: &isFolder)
                else { continue }
                if isFolder {
                    let isHidden = name.hasPrefix(".") && name != ".ci" && name != ".github"
                    // What fuzzers feed on is no text of ours.
                    if !isHidden, path != "Tools/Fuzz/Corpora" { folders.append(path) }
                } else if isText(name) {
                    paths.append(path)
                }
            }
        }
        return paths.sorted()
    }

    /// Sources, scripts (which have no extension) and texts; data files of tests are not read.
    private static func isText(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return true }
        return ["swift", "md", "sh", "h", "c", "proto", "modulemap", "json5"].contains(parts.last)
    }

    /// The lines of the package manifest's code, with strings.
    var manifest: SourceFile? { files.first { $0.path == "Package.swift" } }
}
