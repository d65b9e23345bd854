// SPDX-License-Identifier: Apache-2.0
// The program's options and variables for TLS, against a real server.
#include "certificates.hpp"
#include "program_run.hpp"
#include <corozk/testing/port.hpp>

#include <boost/json.hpp>

#include <algorithm>

namespace corozk::testing::program_tls_test {

TEST_CASE("program: TLS by options and by the environment") {
    port_reservation port;
    server_options options;
    speak_tls(options, port.port(), "server", "need");
    server secure(options);
    const program_run::variables hosts{
        {"COROZK_HOSTS", "127.0.0.1:" + std::to_string(port.port())}};
    const std::vector<std::string> command{"lock", "/secure", "--", "true"};
    auto with = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), command.front());
        arguments.insert(arguments.end(), command.begin() + 1, command.end());
        return arguments;
    };

    program_result by_options = run_program(with({"--tls-ca",
                                                  made().file("ca.pem"),
                                                  "--tls-cert",
                                                  made().file("client.pem"),
                                                  "--tls-key",
                                                  made().file("client.key")}),
                                            {},
                                            hosts);
    INFO(by_options.err);
    CHECK(by_options.code == 0);

    program_run::variables environment = hosts;
    environment["COROZK_TLS_CA"] = made().file("ca.pem");
    environment["COROZK_TLS_CERT"] = made().file("client.pem");
    environment["COROZK_TLS_KEY"] = made().file("locked.key");
    environment["COROZK_TLS_KEY_PASSWORD"] = "open";
    program_result by_environment = run_program({"lock", "/secure", "--", "env"}, {}, environment);
    INFO(by_environment.err);
    CHECK(by_environment.code == 0);
    // Without -v, too.
    program_result in_clear = run_program(with({"--connect-timeout", "5s"}), {}, hosts);
    INFO(in_clear.err);
    CHECK(in_clear.code == 69);
    CHECK(in_clear.err.find("this may be a port for TLS") != std::string::npos);
    // The reason is said once; with --json it is the event's message.
    const std::vector<std::string> distrustful{
        "--tls-ca", made().file("other.pem"), "--connect-timeout", "5s"};
    program_result distrusts = run_program(with(distrustful), {}, hosts);
    INFO(distrusts.err);
    CHECK(distrusts.code == 69);
    CHECK(distrusts.err.starts_with("corozk: cannot connect to 127.0.0.1:"));
    CHECK(distrusts.err.find("certificate") != std::string::npos);
    CHECK(distrusts.err.find("trust it with --tls-ca") != std::string::npos);
    CHECK(std::count(distrusts.err.begin(), distrusts.err.end(), '\n') == 1);
    std::vector<std::string> as_json = distrustful;
    as_json.emplace_back("--json");
    distrusts = run_program(with(as_json), {}, hosts);
    CHECK(distrusts.code == 69);
    auto said = boost::json::parse(distrusts.err);
    CHECK(said.at("event") == "error");
    const std::string message(said.at("message").as_string());
    CHECK(message.starts_with("cannot connect to 127.0.0.1:"));
    CHECK(message.find("certificate") != std::string::npos);
    program_result nothing = run_program(with({"--tls-ca", "nosuch"}), {}, hosts);
    CHECK(nothing.code == 64);
    CHECK(nothing.err.find("cannot read --tls-ca \"nosuch\"") != std::string::npos);
    // The command has what is no secret.
    CHECK(by_environment.out.find("COROZK_TLS_KEY=") != std::string::npos);
    CHECK(by_environment.out.find("COROZK_TLS_KEY_PASSWORD=") == std::string::npos);
}

}  // namespace corozk::testing::program_tls_test
