import Testing

@testable import entitled

@Suite struct EnvironmentVariablesTests {
    @Test func `known variables are read, empty ones are not set, others are not ours`() {
        let variables = EnvironmentVariables([
            "ENTITLED_DATA": "/d", "ENTITLED_LOG_LEVEL": "debug", "ENTITLED_THREADS": "",
            "PATH": "/bin", "ENTITLE_DATA": "/x", "entitled_data": "/y",
        ])
        #expect(variables.problems.isEmpty)
        #expect(variables.values == [.data: "/d", .logLevel: "debug"])
    }

    @Test(arguments: [
        (
            "ENTITLED_DTA",
            "unknown environment variable `ENTITLED_DTA`; did you mean `ENTITLED_DATA`?"
        ),
        (
            "ENTITLED_LOGLEVEL",
            "unknown environment variable `ENTITLED_LOGLEVEL`; did you mean `ENTITLED_LOG_LEVEL`?"
        ),
        ("ENTITLED_FROBNICATE", "unknown environment variable `ENTITLED_FROBNICATE`"),
        ("ENTITLED_", "unknown environment variable `ENTITLED_`"),
        ("ENTITLED_PORT_TCP", "unknown environment variable `ENTITLED_PORT_TCP`"),
        ("ENTITLED_PRODUCT_DURATION", "unknown environment variable `ENTITLED_PRODUCT_DURATION`"),
    ])
    func `an unknown variable is refused, without its value`(name: String, message: String) {
        let variables = EnvironmentVariables([name: "s3cret"])
        #expect(variables.problems == [ConfigurationProblem(message)])
        #expect(variables.problems.allSatisfy { !$0.message.contains("s3cret") })
    }

    @Test(arguments: [
        "ENTITLED_SERVICE_HOST", "ENTITLED_SERVICE_PORT", "ENTITLED_SERVICE_PORT_RPC",
        "ENTITLED_PORT", "ENTITLED_PORT_7420_TCP", "ENTITLED_PORT_7420_TCP_PROTO",
        "ENTITLED_PORT_7420_TCP_PORT", "ENTITLED_PORT_7420_TCP_ADDR", "ENTITLED_PORT_53_UDP",
    ])
    func `what Kubernetes sets for a service of our name is left alone`(name: String) {
        #expect(EnvironmentVariables([name: "tcp://10.0.0.1:7420"]).problems.isEmpty)
    }
}
