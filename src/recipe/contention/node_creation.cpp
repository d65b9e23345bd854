// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/node_creation.hpp"

#include "recipe/toolkit/fault.hpp"
#include "recipe/toolkit/take_if.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corozk::detail {

using stage = local_node::stage_type;

bool node_creation::has_wanted() const noexcept {
    return std::any_of(contenders_.begin(), contenders_.end(), [](const local_node& c) {
        return c.state != stage::unwanted;
    });
}

void node_creation::add(local_node& c) noexcept {
    contenders_.push_back(c);
    if (!next_)
        next_ = &c;
}

void node_creation::remove(local_node& c) noexcept {
    auto following = contenders_.erase(contenders_.iterator_to(c));
    if (next_ == &c)
        next_ = following == contenders_.end() ? nullptr : &*following;
}

local_node* node_creation::next() noexcept {
    if (!next_ || in_flight_ >= creates_in_flight)
        return nullptr;
    local_node& c = *next_;
    auto following = std::next(contenders_.iterator_to(c));
    next_ = following == contenders_.end() ? nullptr : &*following;
    again(c);
    return &c;
}

void node_creation::again(local_node& c) noexcept {
    c.state = stage::creating;
    ++in_flight_;
}

node_creation::step node_creation::answered(local_node& c,
                                            const error_code& ec,
                                            std::uint64_t sent_in) {
    --in_flight_;
    const fault why = fault_of(ec);
    if (why == fault::none || why == fault::unknown)
        c.session = sent_in;
    if (why == fault::none)
        return step::place;
    if (why == fault::unknown) {
        unknown_.push_back(&c);
        return std::exchange(searching_, true) ? step::wait : step::find;
    }
    if (c.state == stage::unwanted)
        return step::fail;
    if (ec == zk_errc::throttled)
        return step::again;
    return ec == zk_errc::no_node ? step::make_parent : step::fail;
}

std::vector<local_node*> node_creation::next_search() {
    searching_ = !unknown_.empty();
    if (!searching_)
        return {};
    return take_if(unknown_, [session = unknown_.front()->session](const local_node* c) {
        return c->session == session;
    });
}

}  // namespace corozk::detail
