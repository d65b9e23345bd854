// SPDX-License-Identifier: Apache-2.0
#include "corozk/recipe/double_barrier.hpp"

#include "driver/port.hpp"
#include "recipe/barriers/double_barrier_room.hpp"
#include "recipe/barriers/page_barrier.hpp"

namespace corozk {

namespace detail {

using phase = barrier_phase;

class double_barrier_impl final : public recipe_core {
public:
    double_barrier_impl(port& p,
                        std::string path,
                        std::uint32_t size_,
                        double_barrier_options options_)
        : recipe_core(p, "double barrier", std::move(path)),
          size(size_),
          options(std::move(options_)) {}

    void enter(handler_of<> handler, time_limit limit) {
        if (of_page())
            return enter_page(std::move(handler), limit);
        if (seat && (seat->phase == phase::inside || seat->call->waiting()))
            return refuse(this, std::move(handler), errc::busy);
        std::string participant;
        if (seat) {
            round = seat->round.number ? seat->round.number : round;
            // The same one, should its node of an earlier session still be there.
            participant = seat->participant;
        }
        if (!room)
            room = get_port().use_service<barrier_rooms>().find(path(), size);
        seat = std::make_shared<barrier_seat>(room->wake());
        seat->participant = std::move(participant);
        seat->entries = options.acl;
        seat->refuse_to_wait = !options.wait_for_next_round;
        serve(std::move(handler), limit, phase::entering);
    }

    void leave(handler_of<> handler, time_limit limit) {
        if (of_page())
            return leave_page(std::move(handler), limit);
        if (!seat || seat->phase != phase::inside) {
            bool busy = seat && seat->phase == phase::leaving && seat->call->waiting();
            return refuse(this, std::move(handler), busy ? errc::busy : errc::not_a_member);
        }
        if (get_port().alive(seat->session))
            return serve(std::move(handler), limit, phase::leaving);
        seat->phase = phase::outside;
        refuse(this, std::move(handler), end_of_session(get_port()));
    }

    /// The public object is destroyed.
    void stop() noexcept override {
        recipe_core::stop();
        if (page && page->inside())
            page->withdraw();
        page.reset();
        if (seat && seat->phase == phase::inside && get_port().alive(seat->session))
            room->add(seat, phase::withdrawing);
        seat.reset();
        room.reset();
    }

    bool inside() const {
        return (seat && seat->phase == phase::inside) || (page && page->inside());
    }

    std::uint64_t last_round() const {
        if (page)
            return page->rounds();
        return seat && seat->round.number ? seat->round.number : round;
    }

    const std::uint32_t size;
    const double_barrier_options options;
    std::shared_ptr<barrier_room> room;
    seat_ptr seat;
    std::uint64_t round = 0;
    std::shared_ptr<page_member> page;  ///< in the format of Curator and Kazoo

private:
    void serve(handler_of<> handler, time_limit limit, phase wanted) {
        seat->call =
            std::make_unique<waiting_call<>>(*this, std::move(handler), room->wake(), limit);
        room->add(seat, wanted);
    }

    bool of_page() const noexcept { return options.compatibility != compatibility::native; }

    void enter_page(handler_of<> handler, time_limit limit) {
        if (page && (page->entering() || page->inside() || page->leaving()))
            return refuse(this, std::move(handler), errc::busy);
        // Kazoo does not expect the parents to be deleted.
        const bool lasting = options.compatibility == compatibility::kazoo;
        const auto parents = lasting ? create_mode::persistent : create_mode::container;
        const page_nodes nodes{get_port(), path(), size, options.acl, parents};
        const auto previous = page;
        page = std::make_shared<page_member>(nodes, last_round());
        page->follow(previous);
        page->enter(*this, std::move(handler), limit);
    }

    void leave_page(handler_of<> handler, time_limit limit) {
        if (page && page->inside())
            return page->leave(*this, std::move(handler), limit);
        bool busy = page && page->leaving();
        refuse(this, std::move(handler), busy ? errc::busy : errc::not_a_member);
    }
};

namespace {

bool can_start(const std::shared_ptr<double_barrier_impl>& impl, handler_of<>& handler) {
    if (!usable_at_path(impl, handler))
        return false;
    if (impl->size != 0)
        return true;
    refuse(impl, std::move(handler), impl->reject(errc::bad_option, "its size is 0"));
    return false;
}

}  // namespace
}  // namespace detail

double_barrier::double_barrier(const client& c,
                               std::string path,
                               std::uint32_t size,
                               double_barrier_options options)
    : recipe_object(c.implementation(), std::move(path), size, std::move(options)) {}

bool double_barrier::inside() const noexcept {
    return impl_ && impl_->inside();
}

std::uint64_t double_barrier::round() const noexcept {
    return impl_ ? impl_->last_round() : 0;
}

void double_barrier::start_enter(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (detail::can_start(impl, handler))
        impl->enter(std::move(handler), limit);
}

void double_barrier::start_leave(const impl_ptr& impl, time_limit limit, handler_of<> handler) {
    if (detail::can_start(impl, handler))
        impl->leave(std::move(handler), limit);
}

}  // namespace corozk
