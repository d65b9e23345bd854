// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <stdexcept>

namespace corozk::bench {

/// Ctrl-C, or a signal like it: thrown by what does not run on the event loop.
class interrupted : public std::runtime_error {
public:
    interrupted() : std::runtime_error("interrupted") {}
};

/// Turns SIGINT, SIGTERM, SIGHUP and SIGQUIT into a clean end; a broken pipe (SIGPIPE) is an error of
/// whoever writes.
namespace interruption {

/// From here on the signals do not end the process; a second one does.
void install();

bool requested() noexcept;

/// Throws `interrupted` if it was asked for.
void check();

}  // namespace interruption

/// Stops an event loop when the program is interrupted.
class interruption_watcher {
public:
    explicit interruption_watcher(boost::asio::io_context& context);
    ~interruption_watcher();
    interruption_watcher(const interruption_watcher&) = delete;
    interruption_watcher& operator=(const interruption_watcher&) = delete;

private:
    boost::asio::posix::stream_descriptor wake_;
};

}  // namespace corozk::bench
