// SPDX-License-Identifier: Apache-2.0
#include "corozk/recipe/barrier.hpp"

#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"
#include "operation/step_path.hpp"
#include "recipe/toolkit/background_deleter.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/recipe_core.hpp"

namespace corozk {

namespace detail {

// The barrier is closed while its node exists.
//
// Invariants:
//   * A waiter proceeds only after a response "no node"; events, reconnects and new sessions merely
//     cause another read.
//   * A barrier that was set before the call of `wait` is seen at any server: the first read
//     follows a sync.
//   * A `set` whose response was lost recognises its node by the guid in it.
//   * A node that ends with an earlier session, and was created by the same object (the first half of
//     the guid), is replaced by one of the current session.
//   * A `remove` whose response was lost deletes only the node it read before (czxid), not a
//     barrier that has been set since (`erase_one` in toolkit/background_deleter).

class barrier_impl final : public recipe_core {
public:
    barrier_impl(port& p, std::string path, barrier_options options_)
        : recipe_core(p, "barrier", std::move(path)),
          options(std::move(options_)),
          setter(p.new_guid().substr(0, 16)) {}

    const barrier_options options;
    const std::string setter;  ///< the first half of its guids
};

namespace {

task<> wait_driver(std::shared_ptr<barrier_impl> self, handler_of<> handler, time_limit limit) {
    port& p = self->get_port();
    signal wake(p);
    watch_signal changed(wake);
    waiting_call<> call(*self, std::move(handler), wake, limit);
    session_signal session(p, wake);
    // The session whose server has what was seen before.
    std::uint64_t synced_in = 0;
    while (!call.over()) {
        changed.disarm();
        request look(p, op_code::get, self->path());
        look.attach(changed);
        const std::uint64_t generation = p.status().generation;
        const bool synced = generation != 0 && generation == synced_in;
        error_code ec = co_await behind_sync(p, look, !synced);
        if (retry(p).again(ec))
            continue;
        if (ec == zk_errc::not_read_only) {
            if (!call.over())
                co_await wake.wait();  // until there is a quorum
            continue;
        }
        if (look.sent_in != 0 && look.sent_in != generation)
            continue;  // in a later session, which began meanwhile
        synced_in = generation;
        if (ec) {
            call.complete(ec == zk_errc::no_node ? error_code() : ec);
            co_return;
        }
        if (!call.over())
            co_await wake.wait();
    }
    forget_watch(p, changed, self->path());
}

task<error_code> look_once(barrier_impl& self, bool& is_set) {
    request look(self.get_port(), op_code::exists, self.path());
    error_code ec = co_await behind_sync(self.get_port(), look);
    is_set = !ec;
    co_return ec == zk_errc::no_node ? error_code() : ec;
}

/// Replaces a node of this object, of an earlier session, which the server has not ended yet, by one
/// of the current session. In one transaction, so that nobody sees the barrier removed.
task<error_code> replace_node(barrier_impl& self, std::string guid, std::int32_t version) {
    const create_options bound{.mode = create_mode::ephemeral, .acl = &self.options.acl};
    transaction both;
    both.erase(self.path(), version).create(self.path(), std::move(guid), bound);
    request multi(self.get_port(), std::move(both));
    co_return co_await multi;
}

task<> set_driver(std::shared_ptr<barrier_impl> self, handler_of<bool> handler, time_limit limit) {
    port& p = self->get_port();
    signal wake(p);
    waiting_call<bool> call(*self, std::move(handler), wake, limit);
    const bool bound = self->options.mode == create_mode::ephemeral;
    const std::string guid = self->setter + p.new_guid().substr(self->setter.size());
    retry attempts(p);
    while (!call.over()) {
        request create(p, op_code::create, self->path());
        create.only_for(&call.users_call());
        create.data = guid;
        create.entries = self->options.acl;
        create.mode = self->options.mode;
        error_code ec = co_await create_with_parents(p, create);
        if (ec == zk_errc::node_exists && (bound || attempts.doubtful())) {
            request look(p, op_code::get, self->path());
            ec = co_await read_forward(p, look);
            if (retry(p).again(ec) || ec == zk_errc::no_node)
                continue;
            if (ec == zk_errc::no_auth && !attempts.doubtful())
                ec = error_code();  // another's
            bool ours = look.answer == guid;
            if (bound && look.answer.starts_with(self->setter) &&
                look.record.ephemeral_owner != p.status().session_id) {
                ec = co_await replace_node(*self, guid, look.record.version);
                const bool again = co_await again_with_quorum(p, attempts, ec);
                if (again || ec == zk_errc::no_node || ec == zk_errc::bad_version)
                    continue;
                ours = true;
            }
            call.complete(ec, ours && !ec);
        } else {
            if (!co_await again_with_quorum(p, attempts, ec))
                call.complete(ec == zk_errc::node_exists ? error_code() : ec, !ec);
        }
    }
}

task<error_code> remove_once(barrier_impl& self, const interest& call, bool& removed) {
    return erase_one(self.get_port(), &call, self.path(), removed);
}

}  // namespace
}  // namespace detail

barrier::barrier(const client& c, std::string path, barrier_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(options)) {}

void barrier::start_set(const impl_ptr& impl, time_limit limit, handler_of<bool> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    if (const char* problem = detail::plain_mode_problem(impl->options.mode))
        return detail::refuse(impl, std::move(handler), impl->reject(errc::bad_option, problem));
    impl->get_port().spawn(detail::set_driver(impl, std::move(handler), limit));
}

void barrier::start_remove(const impl_ptr& impl, time_limit limit, handler_of<bool> handler) {
    detail::serve_at_path(impl, std::move(handler), limit, &detail::remove_once);
}

void barrier::start_check(const impl_ptr& impl, time_limit limit, handler_of<bool> handler) {
    detail::serve_at_path(impl, std::move(handler), limit, &detail::look_once);
}

void barrier::start_wait(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    detail::run_at_path(impl, std::move(handler), &detail::wait_driver, limit);
}

}  // namespace corozk
