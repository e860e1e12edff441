internal import Glibc

/// Checks the rules of this repository that neither the compiler nor the formatter checks.
@main
struct Tidy {
    /// Everything that is found, errors first.
    static func findings(in repository: Repository) -> [Finding] {
        (SizeRules.check(repository) + ImportRules.check(repository) + WordRules.check(repository)
            + LayoutRules.check(repository)).sorted()
    }

    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count <= 1, !(arguments.first ?? "").hasPrefix("-") else {
            print("usage: tidy [ROOT OF THE REPOSITORY]")
            exit(arguments.first == "--help" ? 0 : 2)
        }
        let failures = SelfTest.failures()
        for failure in failures { print("tidy does not see: \(failure)") }
        guard let repository = try? Repository(root: arguments.first ?? "."),
            repository.manifest != nil
        else {
            print("tidy: no package at \(arguments.first ?? ".")")
            exit(2)
        }
        let findings = findings(in: repository)
        for finding in findings { print(finding.text) }
        let errorCount = findings.filter { $0.weight == .error }.count
        let noteCount = findings.count - errorCount
        print("tidy: \(repository.files.count) files, \(errorCount) errors, \(noteCount) notes")
        exit(errorCount == 0 && failures.isEmpty ? 0 : 1)
    }
}
