internal import Glibc

/// Runs simulations: one seed again, many seeds, or planted bugs.
@main
struct Main {
    static func main() {
        do throws(UsageError) {
            let command = try SimulationCommand(Array(CommandLine.arguments.dropFirst()))
            exit(command.run())
        } catch {
            print("sim: \(error.message)\n\(SimulationCommand.usage)")
            exit(2)
        }
    }
}
