// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/port.hpp"

namespace corozk::detail {

class session;

/// A session as a client sees it: with paths that are relative to a root. The operations are those of
/// the session, whoever calls them.
class session_view : public port {
public:
    /// The session itself: what has no paths is the same in all views.
    session& core() noexcept;

    /// The client object was destroyed: the one that has made the session closes it without waiting.
    virtual void release() noexcept = 0;

protected:
    ~session_view() = default;
};

}  // namespace corozk::detail
