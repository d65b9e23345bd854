// SPDX-License-Identifier: Apache-2.0
// A Kerberos realm for a test program, with Debian's KDC.
#pragma once

#include <corozk/testing/port.hpp>
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corozk::testing {

/// The realm TEST.COROZK, whose KDC (packages krb5-kdc and krb5-admin-server) listens on a free port of
/// 127.0.0.1 for as long as the object lives, with the servers' principal zookeeper/localhost.
///
/// Kerberos takes configuration and credentials of a process from its environment. The constructor
/// makes that name files of this realm; which credentials there are is afterwards decided by the
/// files. One object per program, before other threads read the environment.
///
/// The KDC of another realm, SILENT.COROZK, is for the test to play, or to leave out.
class kerberos_realm {
public:
    /// @throws std::runtime_error with the log of what failed
    kerberos_realm();

    /// Where the KDC of SILENT.COROZK would listen.
    std::uint16_t silent_port() const noexcept { return silent_.port(); }

    /// Makes a principal, of this realm or of SILENT.COROZK.
    void add(const std::string& principal);

    /// This process has no tickets, but a key of that principal to get some.
    void hold_key_of(const std::string& principal);

    /// This process has neither tickets nor a key.
    void hold_nothing();

    std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

    /// Of the servers' principal.
    std::string server_keytab() const { return file("server.keytab"); }

private:
    void configure() const;
    void write_keytab(const std::string& file_name, const std::string& principal);
    void serve();
    bool serving();
    void run(std::vector<std::string> command) const;
    std::string text(const std::string& file_name) const;

    temporary_directory folder_;
    port_reservation port_;
    port_reservation silent_;
    std::unique_ptr<process_guard> kdc_;
};

}  // namespace corozk::testing
