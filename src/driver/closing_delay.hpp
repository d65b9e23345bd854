// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

namespace corozk::detail {

/// While one exists, closing the client waits, and requests that are `operation::owed` are still sent:
/// for a driver that has taken something which it has to return if nobody gets it.
class closing_delay {
public:
    explicit closing_delay(port& p) noexcept : port_(p) { port_.delay_closing(true); }
    ~closing_delay() { port_.delay_closing(false); }
    closing_delay(const closing_delay&) = delete;
    closing_delay& operator=(const closing_delay&) = delete;

private:
    port& port_;
};

}  // namespace corozk::detail
