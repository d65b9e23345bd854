// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation/watch_node.hpp"

namespace corozk::detail {

/// A watch whose events call a member function of its owner. A dropped watch is not reported: the
/// owner observes the end of the session.
template <class Owner, void (Owner::*Fired)(watch_event_type) noexcept>
class member_watch final : public watch_node {
public:
    explicit member_watch(Owner& owner) noexcept : owner_(owner) {}

private:
    void fired(watch_event_type type) noexcept override { (owner_.*Fired)(type); }
    void dropped(const error_code&) noexcept override {}

    Owner& owner_;
};

}  // namespace corozk::detail
