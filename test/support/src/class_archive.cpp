// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/class_archive.hpp"

#include "corozk/testing/raw_session.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <utility>

namespace corozk::testing {
namespace {

namespace fs = std::filesystem;

/** What most tests make a server do: its classes are loaded when they are first used. */
void use(const server& zk) {
    raw_session session{zk.port()};
    session.create("/node");
    session.get("/node", true);
    session.exists("/node", true);
    session.children("/");
    session.set("/node", "data");
    session.erase("/node");
}

}  // namespace

void write_class_archive(const fs::path& file, server_options options) {
    const fs::path written = fmt::format("{}.{}", fs::absolute(file).native(), ::getpid());
    options.class_archive = "/dev/null";  // not one of the environment
    options.java_properties.push_back("-XX:ArchiveClassesAtExit=" + written.native());
    server zk{std::move(options)};
    use(zk);
    zk.terminate();
    if (!fs::exists(written)) {
        throw server_error{"Java has written no class archive; the end of its log:\n" +
                           zk.log_tail()};
    }
    fs::rename(written, file);
}

}  // namespace corozk::testing
