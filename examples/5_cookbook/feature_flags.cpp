// SPDX-License-Identifier: Apache-2.0
// Feature flags: looked up in memory, changed for all processes, optionally for a fraction of the
// users.
//
//   feature_flags 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk/recipe/cache.hpp>

#include <charconv>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string_view>

using boost::asio::awaitable;

/// The children of a znode: a flag's data is the percentage of users that have the feature.
class feature_flags {
public:
    feature_flags(const corozk::client& zk, std::string path) : flags_(zk, std::move(path)) {}

    /// Waits for the first state, and for the next one.
    awaitable<void> next() { state_ = co_await flags_.next(state_); }

    /// Sends nothing, never waits.
    bool on(std::string_view flag, std::string_view user) const {
        corozk::tree_state latest = flags_.current();
        if (!latest.nodes)
            return false;  // not read yet
        auto found = latest.nodes->find(std::string(flag));
        if (found == latest.nodes->end())
            return false;
        const std::string& text = found->second.data;
        unsigned percent = 0;
        std::from_chars(text.data(), text.data() + text.size(), percent);
        return bucket(flag, user) < percent;
    }

private:
    /// The same in every process, and another one for each flag. (FNV-1a)
    static unsigned bucket(std::string_view flag, std::string_view user) {
        std::uint64_t hash = 14695981039346656037U;
        for (std::string_view part : {flag, std::string_view("/"), user}) {
            for (char c : part)
                hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
        }
        return static_cast<unsigned>((hash >> 32) % 100);
    }

    corozk::children_cache flags_;
    corozk::tree_state state_;
};

int users_with(const feature_flags& flags, const char* flag) {
    int count = 0;
    for (int user = 0; user < 1000; ++user)
        count += flags.on(flag, "user-" + std::to_string(user)) ? 1 : 0;
    return count;
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await erase_leftovers(zk, "/flags");
    feature_flags flags(zk, "/flags");
    co_await flags.next();
    if (flags.on("new-checkout", "anna"))
        throw std::runtime_error("a missing flag is on");

    // Usually by hand: corozk put /flags/new-checkout 25
    co_await zk.ensure_path("/flags");
    co_await zk.create("/flags/new-checkout", "25");
    while (users_with(flags, "new-checkout") == 0)
        co_await flags.next();
    int some = users_with(flags, "new-checkout");
    std::cout << some << " of 1000 users have it\n";
    if (some < 200 || some > 300)
        throw std::runtime_error("not a quarter");

    co_await zk.set("/flags/new-checkout", "100");
    while (users_with(flags, "new-checkout") < 1000)
        co_await flags.next();
    std::cout << "all have it\n";
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
