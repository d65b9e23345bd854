// SPDX-License-Identifier: Apache-2.0
#include "kerberos_realm.hpp"

#include <corozk/testing/eventually.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace corozk::testing {

namespace {

using namespace std::chrono_literals;

constexpr auto host = "zookeeper/localhost";
constexpr int start_attempts = 5;

[[noreturn]] void fail_kerberos(const std::string& what, const std::string& log) {
    throw std::runtime_error("no Kerberos realm: " + what +
                             " (packages krb5-kdc, krb5-admin-server)\n" + log);
}

}  // namespace

kerberos_realm::kerberos_realm() {
    for (const auto& [variable, value] : std::map<std::string, std::string>{
             {"KRB5_CONFIG", file("krb5.conf")},
             {"KRB5_KDC_PROFILE", file("kdc.conf")},
             {"KRB5CCNAME", "FILE:" + file("tickets")},
             {"KRB5_CLIENT_KTNAME", "FILE:" + file("client.keytab")},
         }) {
        ::setenv(variable.c_str(), value.c_str(), 1);
    }
    configure();
    run({"/usr/sbin/kdb5_util", "create", "-s", "-P", "the secret of the realm"});
    add(host);
    write_keytab("server.keytab", host);
    for (int attempt = 1; !kdc_; ++attempt) {
        serve();
        if (serving())
            return;
        kdc_.reset();
        std::string log = text("kdc.log");
        if (attempt == start_attempts || log.find("Address already in use") == std::string::npos)
            fail_kerberos("the KDC ended", log);
        std::filesystem::remove(file("kdc.log"));
        port_ = port_reservation{};
        configure();
    }
}

void kerberos_realm::configure() const {
    auto address = [](const port_reservation& port) {
        return "127.0.0.1:" + std::to_string(port.port()) + "\n";
    };
    std::ofstream(file("krb5.conf"))  //
        << "[libdefaults]\n"
        << " default_realm = TEST.COROZK\n"
        << " dns_lookup_kdc = false\n"
        << " dns_lookup_realm = false\n"
        << " dns_canonicalize_hostname = false\n"
        << " rdns = false\n"
        << " udp_preference_limit = 1\n"
        << "[realms]\n"
        << " TEST.COROZK = {\n  kdc = " << address(port_) << " }\n"
        << " SILENT.COROZK = {\n  kdc = " << address(silent_) << " }\n";
    std::ofstream(file("kdc.conf"))  //
        << "[kdcdefaults]\n"
        << " kdc_listen = \"\"\n"
        << " kdc_tcp_listen = " << address(port_)  //
        << "[realms]\n"
        << " TEST.COROZK = {\n"
        << "  database_name = " << file("principals") << "\n"
        << "  key_stash_file = " << file("stash") << "\n"
        << " }\n"
        << "[logging]\n"
        << " kdc = STDERR\n";
}

void kerberos_realm::serve() {
    process_options what;
    what.command = {"/usr/sbin/krb5kdc", "-n"};
    what.output = file("kdc.log");
    what.directory = folder_.path();
    try {
        kdc_ = std::make_unique<process_guard>(what);
    } catch (const std::system_error& error) {
        fail_kerberos(error.what(), "");
    }
}

bool kerberos_realm::serving() {
    bool serves = false;
    auto decided = [&] {
        serves = text("kdc.log").find("commencing operation") != std::string::npos;
        return serves || !kdc_->running();
    };
    eventually(decided, 60s, "the KDC's start");
    return serves;
}

void kerberos_realm::add(const std::string& principal) {
    run({"/usr/sbin/kadmin.local", "addprinc", "-randkey", principal});
}

void kerberos_realm::write_keytab(const std::string& file_name, const std::string& principal) {
    run({"/usr/sbin/kadmin.local", "ktadd", "-k", file(file_name), principal});
    if (!std::filesystem::exists(file(file_name)))
        fail_kerberos("no key of " + principal, text("commands.log"));
}

void kerberos_realm::hold_key_of(const std::string& principal) {
    hold_nothing();
    write_keytab("client.keytab", principal);
}

void kerberos_realm::hold_nothing() {
    std::filesystem::remove(file("tickets"));
    std::filesystem::remove(file("client.keytab"));
}

void kerberos_realm::run(std::vector<std::string> command) const {
    process_options what;
    what.command = std::move(command);
    what.output = file("commands.log");
    what.directory = folder_.path();
    try {
        process_guard process(what);
        if (!process.wait(60s) || process.exit_status() != 0)
            fail_kerberos(what.command.front() + " failed", text("commands.log"));
    } catch (const std::system_error& error) {
        fail_kerberos(error.what(), "");
    }
}

std::string kerberos_realm::text(const std::string& file_name) const {
    std::ifstream in(file(file_name));
    std::ostringstream content;
    content << in.rdbuf();
    return content.str();
}

}  // namespace corozk::testing
