// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include "output.hpp"

namespace corozk::program {

client_options to_client_options(const settings& s) {
    client_options options(s.hosts);
    options.session_timeout = s.session_timeout;
    options.connect_timeout = s.connect_timeout.value_or(options.connect_timeout);
    options.auth = s.auth;
    if (!s.tls.ca_file.empty() || !s.tls.certificate_file.empty() || s.tls.system_authorities)
        options.tls = s.tls;
    if (!s.sasl.user.empty() || !s.sasl.password_file.empty())
        options.sasl = s.sasl;
    auto write = [out = output(s.json)](log_level level, std::string_view line) {
        std::string_view name = to_string(level);
        out.event("log",
                  std::string(name).append(": ").append(line),
                  {{"level", name}, {"message", line}});
    };
    options.logger = logger(s.verbose ? log_level::info : log_level::error, write);
    return options;
}

}  // namespace corozk::program
