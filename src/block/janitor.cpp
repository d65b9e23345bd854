// SPDX-License-Identifier: Apache-2.0
#include "block/janitor.hpp"

#include "session/path.hpp"
#include "session/request.hpp"

namespace corozk::detail {

namespace {

/// Nothing was done, or perhaps nothing: ask again for as long as the session lives.
bool ask_again(port& p, const error_code& ec, std::uint64_t generation) {
    return (is_recoverable(ec) || ec == errc::not_connected) && p.alive(generation);
}

task<> erase_driver(port& p, std::string path, std::uint64_t generation) {
    std::string name = path;
    error_code ec = co_await erase_surely(p, std::move(path), generation);
    if (ec && !is_session_lost(ec) && ec != errc::closed && p.logs(log_level::warning)) {
        p.log(log_level::warning, "could not erase " + name + ": " + ec.message());
    }
}

task<> erase_guid_driver(port& p, std::string parent, std::string guid, std::uint64_t generation) {
    for (;;) {
        request listing(p, op_code::children, parent);
        listing.generation = generation;
        error_code ec = co_await listing;
        if (ask_again(p, ec, generation)) continue;
        if (ec) co_return;  // the parent is gone, or the session: so is the node
        for (std::size_t i = 0; i < listing.names.size(); ++i) {
            if (listing.names[i].find(guid) == std::string_view::npos) continue;
            co_await erase_driver(p, join_path(parent, listing.names[i]), generation);
        }
        co_return;
    }
}

}  // namespace

task<error_code> erase_surely(port& p, std::string path, std::uint64_t generation) {
    for (;;) {
        request erase(p, op_code::erase, path);
        erase.generation = generation;
        error_code ec = co_await erase;
        if (!ec || ec == zk_errc::no_node) co_return error_code();
        if (!ask_again(p, ec, generation)) co_return ec;
    }
}

void janitor::erase(std::string path, std::uint64_t generation) {
    port_.spawn(erase_driver(port_, std::move(path), generation));
}

void janitor::erase_guid(std::string parent, std::string guid, std::uint64_t generation) {
    port_.spawn(erase_guid_driver(port_, std::move(parent), std::move(guid), generation));
}

}  // namespace corozk::detail
