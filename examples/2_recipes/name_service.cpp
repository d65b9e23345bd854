// SPDX-License-Identifier: Apache-2.0
// Names with values: a persistent one, and one that lives as long as its service.
//
//   name_service 127.0.0.1:2181
#include "program.hpp"
#include <corozk/recipe/name_service.hpp>

#include <iostream>

using boost::asio::awaitable;

awaitable<void> work(std::string hosts) {
    auto here = co_await corozk::client::connect(corozk::client_options(hosts));
    auto there = co_await corozk::client::connect(corozk::client_options(hosts));

    corozk::name_service services(there, "/app/names");
    co_await services.register_name("mail/smtp", "10.0.0.5:25");
    co_await services.register_name("mail/imap", "10.0.0.6:143", corozk::create_mode::ephemeral);

    corozk::name_service names(here, "/app/names");
    auto smtp = co_await names.resolve("mail/smtp");
    std::cout << "smtp is " << smtp.value << '\n';

    auto all = co_await names.list("mail");
    for (const auto& entry : all)
        std::cout << "mail/" << entry.name << " = " << entry.value << '\n';

    // A name can be followed whether it is registered or not.
    auto imap = names.follow("mail/imap");
    auto now = co_await imap.next();
    std::cout << "imap is " << now.value << '\n';
    co_await there.close();  // the service ends, and its name with it
    now = co_await imap.next();
    std::cout << (now.present ? "imap is there" : "imap is gone") << '\n';

    co_await names.unregister("mail/smtp");  // a persistent name must be unregistered
    co_await here.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
