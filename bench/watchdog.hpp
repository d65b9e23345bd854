// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "statistics.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace corozk::bench {

/// Posts itself to the event loop again and again and notes how long it has to wait for its turn.
/// While it runs, the loop never sleeps.
class watchdog {
public:
    explicit watchdog(boost::asio::any_io_executor executor);
    ~watchdog();
    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;

    struct gap {
        double seen_ms = 0;  ///< by the clock
        double own_ms = 0;   ///< without waiting for a core, which is not the program's doing
    };

    /// The longest since the last call; each of the two by itself.
    gap take();

private:
    struct state;
    static void bark(std::shared_ptr<state> s);

    std::shared_ptr<state> state_;
};

}  // namespace corozk::bench
