// SPDX-License-Identifier: Apache-2.0
// Claiming items: they stay until they are acknowledged.
#include "operation/path.hpp"
#include "recipe/queue/queue_impl.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/synced_read.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

/// So many claims of an item, one after the other, can be told apart.
constexpr std::int64_t different_claims = 4;

}  // namespace

task<error_code> queue_impl::serve_consumers() {
    struct attempt {
        attempt(port& p, candidate c_, const std::string& item_path)
            : c(std::move(c_)),
              path(join_path(item_path, "claim")),
              create(p, op_code::create, path),
              get(p, op_code::get, item_path) {}
        candidate c;
        std::string path;
        request create;
        request get;
    };
    std::uint64_t generation = port_.status().generation;
    // Where others claim as well, only what is ours is read.
    const bool read_at_once = losses_ == 0;
    time_point begin = port_.now();
    std::size_t claimed = 0;
    std::size_t claimed_by_others = 0;
    std::vector<std::unique_ptr<attempt>> attempts;
    request folder(port_, op_code::exists, path_);
    const bool sure = sure_of_folder();
    if (!sure)
        folder.send();
    for (candidate& c : next_candidates(run_length(wanted::consume))) {
        std::string item_path = join_path(path_, c.name);
        auto a = std::make_unique<attempt>(port_, std::move(c), item_path);
        a->create.data = port_.new_guid();
        a->create.mode = create_mode::ephemeral;
        a->create.entries = options_.acl;
        a->create.generation = generation;
        a->get.generation = generation;
        a->create.send();
        if (read_at_once)
            a->get.send();
        attempts.push_back(std::move(a));
    }
    if (names_.ranked())
        fresh_ = false;
    if (!read_at_once) {
        for (auto& a : attempts) {
            request& create = a->create;
            if (!co_await create)
                a->get.send();
        }
    }
    bool other_folder = false;
    if (!sure) {
        error_code ec = co_await folder;
        other_folder = found_other_folder(ec, folder.record);
    }
    error_code result;
    for (auto& pointer : attempts) {
        attempt& a = *pointer;
        request& create = a.create;
        request& get = a.get;
        error_code ec = co_await create;
        if (read_at_once)
            co_await get;  // whatever became of the claim: the answer comes here
        stat record = create.record;
        bool ours = !ec;
        if (is_outcome_unknown(ec)) {
            ours = co_await claim_is_ours(a.path, create.data, generation, record, ec);
            if (!ours && !ec)
                ec = zk_errc::node_exists;
        }
        if (!ours) {
            if (ec == zk_errc::node_exists) {
                ++claimed_by_others;
                foreign_.emplace(a.c.name, std::make_unique<foreign_claim>(wake_));
            } else if (ec == zk_errc::no_node) {
                forget_listing();
            } else if (ec == zk_errc::no_children_for_ephemerals) {
                result = errc::not_supported;
            } else {
                result = ec;
            }
            continue;
        }
        ++claimed;
        error_code get_ec = co_await get;
        while (ask_again(port_, generation, get_ec)) {
            request again(port_, op_code::get, join_path(path_, a.c.name));
            again.generation = generation;
            get_ec = co_await again;
            get.answer = std::move(again.answer);
            get.record = again.record;
        }
        if (!get_ec)
            get_ec = co_await tell_apart(a.path, create.data, generation, get.record, record);
        consumer* taker = next_taker(wanted::consume);
        if (get_ec || !taker || other_folder) {
            co_await give_claim_back(a.path, create.data, generation, record);
            forget_listing();
            if (get_ec && get_ec != zk_errc::no_node)
                result = get_ec;
            continue;
        }
        own_.insert(a.c.name);
        queue_item item = make_item(a.c.name, std::move(get.answer), a.c.key);
        auto claim = std::make_shared<claim_impl>(
            port_, shared_from_this(), std::move(item), generation, record);
        taker->claim->complete(error_code(), queue_claim(session_.lock(), std::move(claim)));
    }
    if (claimed > 0) {
        won(begin);
    } else if (claimed_by_others > 0) {
        lost();
    }
    co_return result;
}

/// After a lost answer, or when there is a claim already.
task<bool> queue_impl::claim_is_ours(std::string path,
                                     std::string guid,
                                     std::uint64_t generation,
                                     stat& record,
                                     error_code& ec) {
    for (;;) {
        // The new server may lag behind the one that got the claim.
        request get(port_, op_code::get, path);
        get.generation = generation;
        ec = co_await behind_sync(port_, get);
        if (ask_again(port_, generation, ec))
            continue;
        if (ec)
            co_return false;
        bool ours = get.answer == guid && get.record.ephemeral_owner == port_.status().session_id;
        if (ours)
            record = get.record;
        co_return ours;
    }
}

/// If somebody erases a claim, the next one has its name. So that the first one's consumer cannot take
/// it for his, the nodes' versions differ: by how often the item has been claimed.
/// @return `no_node`: the claim is not there any more
task<error_code> queue_impl::tell_apart(std::string path,
                                        std::string guid,
                                        std::uint64_t generation,
                                        const stat& item,
                                        stat& claim) {
    // Both numbers may be a stranger's.
    std::int64_t claims = (std::int64_t{item.cversion} + item.num_children) / 2;
    std::int64_t version = claims > 0 ? (claims - 1) % different_claims : 0;
    while (claim.version < version) {
        request set(port_, op_code::set, path);
        set.data = guid;
        set.version = claim.version;
        set.generation = generation;
        error_code ec = co_await set;
        if (!ec) {
            ++claim.version;
            continue;
        }
        if (ec == zk_errc::no_auth)
            break;  // the user's list of rights does without: they cannot be told apart
        if (ec == zk_errc::bad_version)
            co_return make_error_code(zk_errc::no_node);
        if (!ask_again(port_, generation, ec))
            co_return ec;
        bool ours = co_await claim_is_ours(path, guid, generation, claim, ec);
        if (!ours)
            co_return ec ? ec : make_error_code(zk_errc::no_node);
    }
    co_return error_code();
}

/// Never erases somebody else's claim: the name is the same for all.
task<> queue_impl::give_claim_back(std::string path,
                                   std::string guid,
                                   std::uint64_t generation,
                                   stat record) {
    bool certain = true;
    for (;;) {
        if (!certain) {
            error_code ec;
            if (!co_await claim_is_ours(path, guid, generation, record, ec))
                co_return;
        }
        request erase(port_, op_code::erase, path);
        erase.version = record.version;
        erase.generation = generation;
        error_code ec = co_await erase;
        if (!ask_again(port_, generation, ec))
            co_return;
        certain = false;
    }
}

}  // namespace corozk::detail
