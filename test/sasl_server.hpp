// SPDX-License-Identifier: Apache-2.0
// A server for tests of SASL.
#pragma once

#include "recipe_fixture.hpp"
#include <corozk/options.hpp>
#include <corozk/testing/server.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing {

/// A server that knows ann and bob.
struct sasl_server {
    std::string file(const std::string& name) const { return (folder.path() / name).string(); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(file(name)) << text;
    }

    explicit sasl_server(std::vector<std::string> config_lines = {},
                         const std::function<void(server_options&)>& more = {})
        : instance(settings(std::move(config_lines), more)) {}

    server_options settings(std::vector<std::string> config_lines,
                            const std::function<void(server_options&)>& more) const {
        write("jaas.conf",
              "Server {\n"
              "  org.apache.zookeeper.server.auth.DigestLoginModule required\n"
              "  user_ann=\"the secret of ann\"\n"
              "  user_bob=\"the secret of bob\";\n"
              "};\n");
        write("ann", "the secret of ann\n");
        write("bob", "the secret of bob");
        write("wrong", "the secret of nobody\n");
        server_options options = recipe_server_options();
        options.config_lines = std::move(config_lines);
        options.java_properties = {
            containers_stay,
            "java.security.auth.login.config=" + file("jaas.conf"),
            "zookeeper.fips-mode=false",  // ZOOKEEPER-5043: otherwise without DIGEST-MD5
            "zookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"};
        if (more)
            more(options);
        return options;
    }

    client_options options(const std::string& user, const std::string& password_file) const {
        client_options result = options_for(instance.hosts());
        result.session_timeout = std::chrono::seconds(30);
        result.sasl = sasl_options(user, file(password_file));
        return result;
    }

    temporary_directory folder;
    server instance;
};

}  // namespace corozk::testing
