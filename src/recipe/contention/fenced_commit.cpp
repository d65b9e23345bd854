// SPDX-License-Identifier: Apache-2.0
#include "driver/pending_call.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/contention/owned.hpp"

#include <algorithm>

namespace corozk::detail {

namespace {

using commit_results = std::vector<transaction_result>;

task<> commit_if_held(port& p,
                      std::vector<std::shared_ptr<owned>> held,
                      transaction steps,
                      handler_of<commit_results> handler) {
    user_call<commit_results> call(p, std::move(handler));
    // As the server compares names, it cannot detect a node that was re-created by another client.
    bool valid = std::all_of(held.begin(), held.end(), [](const auto& o) { return o->valid(); });
    if (!valid) {
        bool closed = p.status().state == session_state::closed;
        call.fail(closed ? errc::closed : errc::ownership_lost);
        co_return;
    }
    if (std::any_of(held.begin(), held.end(), [](const auto& o) { return o->changing(); })) {
        call.fail(errc::busy);
        co_return;
    }
    transaction whole;
    for (const auto& o : held) {
        for (const std::string& node : o->nodes())
            whole.check(node);
    }
    const std::size_t checks = whole.size();
    whole.append(steps);
    request multi(p, whole, held.front()->generation());
    multi.only_for(&call);
    call.on_cancel([&](cancellation_type type) {
        // In flight: total cancellation would promise that nothing has happened.
        const bool stops = (type & stops_waiting) != cancellation_type::none;
        if (stops || multi.state != operation::progress::sent)
            call.fail(boost::asio::error::operation_aborted);
    });
    error_code ec = co_await multi;
    if (ec == zk_errc::session_expired)
        ec = errc::ownership_lost;
    commit_results results = std::move(multi.results);
    for (std::size_t i = 0; i < checks && !results.empty(); ++i) {
        if (ec && results.front().error == zk_errc::no_node)
            ec = errc::ownership_lost;
        results.erase(results.begin());
    }
    call.complete(ec, std::move(results));
}

task<> read_behind_sync(port& p, std::string path, handler_of<node_data> handler) {
    auto shared = cancellable(user_call<node_data>(p, std::move(handler)), any_cancellation);
    if (const char* problem = path_problem(path)) {
        shared->fail(p.reject(errc::bad_path, "get: path \"", path, "\" ", problem));
        co_return;
    }
    request get(p, op_code::get, path);
    error_code ec = co_await behind_sync(p, get);
    node_data result;
    result.data = std::move(get.answer);
    result.stat = get.record;
    shared->complete(ec, std::move(result));
}

}  // namespace

void guarded_commit(std::vector<std::shared_ptr<owned>> held,
                    transaction steps,
                    handler_of<commit_results> handler) {
    port& p = held.front()->owner_port();
    p.spawn(commit_if_held(p, std::move(held), std::move(steps), std::move(handler)));
}

void synced_read(port& p, std::string path, handler_of<node_data> handler) {
    p.spawn(read_behind_sync(p, std::move(path), std::move(handler)));
}

}  // namespace corozk::detail
