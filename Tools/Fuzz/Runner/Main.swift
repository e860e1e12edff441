import FoundationEssentials
import FuzzTargets
import Glibc

/// libFuzzer's loop, as a function of its library.
///
/// See: https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library
@_extern(c, "LLVMFuzzerRunDriver")
func runFuzzer(
    _ argumentCount: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ fuzz: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The fuzzers' program: `fuzz --list`, `fuzz --seeds FOLDER`, or `fuzz TARGET` and what libFuzzer
/// takes.
@main
enum Main {
    /// `nonisolated(unsafe)`: set once, before libFuzzer calls anything.
    nonisolated(unsafe) private static var target = FuzzTarget.all[0]

    static func main() {
        let name = CommandLine.arguments.dropFirst().first ?? ""
        if name == "--list" {
            for target in FuzzTarget.all { print(target.name, target.byteCountMax) }
            return
        }
        if name == "--seeds", CommandLine.arguments.count == 3 {
            writeSeeds(into: CommandLine.arguments[2])
            return
        }
        guard let chosen = FuzzTarget.all.first(where: { $0.name == name }) else {
            print("usage: fuzz --list | --seeds FOLDER | TARGET [OPTION OR FOLDER OF libFuzzer]...")
            exit(2)
        }
        unsafe target = chosen
        var argumentCount = CommandLine.argc - 1
        // libFuzzer takes the target's name for that of the program.
        var arguments = unsafe CommandLine.unsafeArgv + 1
        _ = unsafe runFuzzer(&argumentCount, &arguments) { bytes, count in
            unsafe Main.fuzz(UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
    }

    /// Writes every target's seeds into the folder of its name, which is there.
    private static func writeSeeds(into folder: String) {
        for target in FuzzTarget.all {
            do {
                for (index, seed) in try target.seeds().enumerated() {
                    try Data(seed).write(
                        to: URL(filePath: "\(folder)/\(target.name)/seed-\(index + 1)"))
                }
            } catch {
                fatalError("\(target.name): \(error)")
            }
        }
    }

    private static func fuzz(_ bytes: UnsafeBufferPointer<UInt8>) {
        do {
            try unsafe target.fuzz(unsafe Array(bytes))
        } catch {
            fatalError("\(error)")
        }
    }
}
