// SPDX-License-Identifier: Apache-2.0
#include "recipe/priority_lock/ranked_node.hpp"

#include "driver/ensure_path.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/sequence_end.hpp"

#include <utility>

namespace corozk::detail {

std::string ranked_node::at(std::string_view name) const {
    return join_path(settings_.parent, name);
}

bool ranked_node::spent() const {
    auto parsed = parse_ranked(name_);
    return parsed && sequence_spent(parsed->sequence);
}

task<error_code> ranked_node::make(acquire_request what, std::string data, const interest& call) {
    return perhaps_ ? find() : create(what, std::move(data), call);
}

task<error_code> ranked_node::create(acquire_request what, std::string data, const interest& call) {
    // A new guid for each attempt, so that nodes of earlier ones are not mistaken for it.
    stem_ = format_ranked(port_.new_guid(), what.kind, what.weight);
    request create(port_, op_code::create, at(stem_), generation_);
    create.only_for(&call);
    create.mode = create_mode::ephemeral_sequential;
    create.data = std::move(data);
    create.entries = settings_.entries;
    error_code ec = co_await create_with_parents(port_, create);
    if (!ec) {
        name_ = std::string(base_name(create.answer));
        co_return ec;
    }
    retry attempt(port_, generation_, in_session_while_reachable);
    const bool again = attempt.again(ec);
    perhaps_ = attempt.doubtful();
    co_return again || perhaps_ ? error_code() : ec;
}

/// After a lost response to the create. A server that lags behind must catch up first.
task<error_code> ranked_node::find() {
    request listing(port_, op_code::children, settings_.parent, generation_);
    error_code ec = co_await behind_sync(port_, listing);
    retry attempts(port_, generation_);
    if (co_await again_until_done(port_, attempts, ec))
        co_return error_code();
    perhaps_ = false;
    for (std::size_t i = 0; !ec && i < listing.names.size(); ++i) {
        std::string_view name = listing.names[i];
        auto parsed = parse_ranked(name);
        if (parsed && !parsed->record && name.starts_with(stem_))
            name_ = std::string(name);
    }
    if (name_.empty())
        port_.use_service<background_deleter>().erase_late(settings_.parent, stem_, generation_);
    co_return ec == zk_errc::no_node ? error_code() : ec;
}

task<> ranked_node::find_out() {
    while (perhaps_ && port_.alive(generation_))
        co_await find();
}

}  // namespace corozk::detail
