// SPDX-License-Identifier: Apache-2.0
#include "operation/path.hpp"
#include "recipe/partitioner/core.hpp"
#include <corozk/recipe/partitioner.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace corozk {

namespace detail {

namespace {

std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace

partitioner_impl::partitioner_impl(port& p,
                                   std::string path,
                                   std::vector<std::string> resources,
                                   partitioner_options options)
    : recipe_core(p, "partitioner", std::move(path)),
      resources_(sorted(std::move(resources))),
      settle_(options.settle),
      wake_(p),
      locks_(p, this->path(), options.acl, wake_),
      participation_(*this, place("members"), options.acl, wake_),
      decision_(p, this->path()),
      decider_wake_(p),
      claims_(locks_) {}

std::string partitioner_impl::place(const char* name) const {
    return join_path(path(), name);
}

void partitioner_impl::stop() noexcept {
    recipe_core::stop();
    participation_.abandon();
    claims_.abandon();
    wake_.set();
}

void partitioner_impl::join(std::string name, time_limit limit, handler_of<> handler) {
    auto here = shared_from_this();
    port& p = get_port();
    if (participation_.busy())
        return refuse(here, std::move(handler), errc::busy);
    if (name.empty())
        name = p.new_guid();
    const bool good =
        is_node_name(name) && std::all_of(resources_.begin(), resources_.end(), [](const auto& r) {
            return is_node_name(r);
        });
    if (!good) {
        return refuse(
            here,
            std::move(handler),
            reject(errc::bad_path, "the name of a resource or member is not a valid node name"));
    }
    participation_.join(std::move(name), std::move(handler), limit);
    wake_.set();
    if (!std::exchange(active_.run, true))
        p.spawn(run(here));
}

void partitioner_impl::next(time_limit limit, handler_of<partition_change> handler) {
    auto here = shared_from_this();
    if (next_call_ && !next_call_->over())
        return refuse(here, std::move(handler), errc::busy);
    next_call_.emplace(*this, std::move(handler), wake_, limit);
    wake_.set();
    if (!active_.run)
        report_news();
}

void partitioner_impl::leave(time_limit limit, handler_of<> handler) {
    if (!participation_.asked())
        return refuse(shared_from_this(), std::move(handler), errc::not_a_member);
    participation_.leave(std::move(handler), limit);
}

task<> partitioner_impl::run(std::shared_ptr<partitioner_impl> self) {
    partitioner_impl& me = *self;
    port& p = me.get_port();
    session_signal session(p, me.wake_);
    for (;;) {
        if (p.status().state == session_state::closed)
            me.participation_.give_up(errc::closed);
        me.participation_.note_join();
        if (me.participation_.member() && !std::exchange(me.active_.follow, true))
            p.spawn(follow(self));
        me.campaign();
        me.pursue_claims();
        me.let_go();
        me.participation_.begin_join();
        me.report_news();
        if (me.finished())
            break;
        co_await me.wake_.wait();
    }
    me.active_.run = false;
}

void partitioner_impl::pursue_claims() {
    if (const error_code refusal = claims_.look())
        participation_.give_up(refusal);
    std::vector<std::string> share;
    const assignment& decided = decision_.shares();
    if (auto mine = decided.find(participation_.name());
        participation_.member() && mine != decided.end())
        std::set_intersection(mine->second.begin(),
                              mine->second.end(),
                              resources_.begin(),
                              resources_.end(),
                              std::back_inserter(share));
    claims_.pursue(share, participation_.name(), may_ask());
}

/// Whether to ask for locks. The name of one whose node is not there may be another session's.
bool partitioner_impl::may_ask() const noexcept {
    const session_status& status = get_port().status();
    return joined() && get_port().alive(status.generation) &&
           status.state != session_state::read_only;
}

/// Ends what goes with the membership. Does not wait for the helpers, which may read, and so wait
/// for a server.
void partitioner_impl::let_go() {
    if (participation_.wanted())
        return;
    // Should it join again, then with what is read by then.
    decision_.clear();
    decision_.wake().set();
    decider_wake_.set();
    participation_.note_leave(!candidacy_ && claims_.settled() && claims_.all_delivered());
}

void partitioner_impl::report_news() {
    if (!next_call_ || next_call_->over())
        return;
    partition_change news = claims_.take_news();
    if (!news.empty()) {
        if (news.gained.empty())
            next_call_->ahead_of_copies();
        next_call_->complete(error_code(), std::move(news));
    } else if (!participation_.asked() && claims_.empty()) {
        next_call_->fail(participation_.reason());
    }
}

bool partitioner_impl::finished() const noexcept {
    return participation_.over() && !candidacy_ && claims_.empty() && claims_.settled() &&
           !active_.follow && !active_.decide_shares;
}

}  // namespace detail

partitioner::partitioner(const client& c,
                         std::string path,
                         std::vector<std::string> resources,
                         partitioner_options options)
    : recipe_object(c.implementation(), std::move(path), std::move(resources), std::move(options)) {
}

std::string partitioner::name() const {
    return impl_ ? impl_->name() : std::string();
}

bool partitioner::joined() const noexcept {
    return impl_ && impl_->joined();
}

void partitioner::start_join(const impl_ptr& impl,
                             std::string name,
                             time_limit limit,
                             handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->join(std::move(name), limit, std::move(handler));
}

void partitioner::start_next(const impl_ptr& impl,
                             time_limit limit,
                             handler_of<partition_change> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->next(limit, std::move(handler));
}

void partitioner::start_leave(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->leave(limit, std::move(handler));
}

}  // namespace corozk
