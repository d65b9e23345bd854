// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/renew_parent.hpp"

#include "driver/request.hpp"
#include <corozk/transaction.hpp>

#include <utility>

namespace corozk::detail {

namespace {

/// `cversion` is shown as twice the number of creates, less the children, in 32 bits.
std::int32_t next_sequence(const stat& parent) noexcept {
    const auto twice = static_cast<std::uint32_t>(parent.cversion) +
                       static_cast<std::uint32_t>(parent.num_children);
    return static_cast<std::int32_t>(twice / 2);
}

}  // namespace

task<error_code> renew_parent(port& p,
                              std::string path,
                              acl entries,
                              create_mode mode,
                              bool keep_data) {
    request look(p, op_code::get, path);
    error_code ec = co_await look;
    // Perhaps another client has replaced it.
    if (ec || !sequence_spent(next_sequence(look.record)))
        co_return ec;
    if (look.record.num_children > 0)
        co_return make_error_code(errc::sequence_exhausted);
    create_options options;
    options.mode = mode;
    options.acl = &entries;
    transaction steps;
    steps.erase(path, look.record.version);
    steps.create(path, keep_data ? look.answer : std::string(), options);
    request replacement(p, steps);
    ec = co_await replacement;
    if (!ec)
        p.report(
            log_level::warning, "the sequence numbers of ", path, " were used up: replaced it");
    co_return ec == zk_errc::not_empty ? make_error_code(errc::sequence_exhausted) : ec;
}

task<> try_renew_parent(port& p, std::string path, acl entries, create_mode mode, bool keep_data) {
    co_await renew_parent(p, std::move(path), std::move(entries), mode, keep_data);
}

}  // namespace corozk::detail
