// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/contention_object.hpp"
#include "recipe/contention/contention_queue.hpp"
#include "recipe/locks/shared_lock_rule.hpp"
#include <corozk/recipe/shared_lock.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>

namespace corozk {

using namespace detail;

shared_lock::shared_lock(const client& c, std::string path, shared_lock_options options)
    : contention_recipe(c,
                        make_contention_object(known_recipe::shared_lock,
                                               the_shared_rule,
                                               {"read", "write"},
                                               std::move(path),
                                               std::move(options)),
                        COROZK_CONTENTION_NAMES("shared_lock")) {}

void shared_lock::start_downgrade(const callee& of,
                                  const owned_ptr& held,
                                  time_limit limit,
                                  handler_of<> handler) {
    std::shared_ptr<contender> c;
    error_code ec = find_held(of, held, c);
    if (!ec && c->kind != write_kind)
        ec = c->owner_port().reject(errc::bad_option, "downgrade: held by a reader: ", c->path());
    if (ec)
        return refuse(of.owner, std::move(handler), ec);
    user_call<> call(c->owner_port(), std::move(handler), limit);
    c->current_queue()->convert(c, read_kind, std::move(call));
}

void shared_lock::start_upgrade(const callee& of,
                                const owned_ptr& held,
                                claim what,
                                handler_of<> handler) {
    std::shared_ptr<contender> c;
    error_code ec = find_held(of, held, c);
    if (!ec && c->kind != read_kind)
        ec = c->owner_port().reject(errc::bad_option, "upgrade: held by a writer: ", c->path());
    if (ec)
        return refuse(of.owner, std::move(handler), ec);
    // The result is not a new ownership: `held` itself becomes the writer.
    auto executor = boost::asio::get_associated_executor(handler, c->owner_port().executor());
    auto slot = boost::asio::get_associated_cancellation_slot(handler);
    auto allocator = boost::asio::get_associated_allocator(handler);
    auto without_ownership = [handler = std::move(handler)](error_code result, ownership) mutable {
        std::move(handler)(result);
    };
    auto adapted = boost::asio::bind_executor(
        executor,
        boost::asio::bind_cancellation_slot(
            slot, boost::asio::bind_allocator(allocator, std::move(without_ownership))));
    what.deadline = what.limit.from(c->owner_port().now());
    c->current_queue()->replace(
        c, what, of.impl->identity(), user_call<ownership>(c->owner_port(), std::move(adapted)));
}

}  // namespace corozk
