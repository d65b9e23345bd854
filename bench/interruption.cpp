// SPDX-License-Identifier: Apache-2.0
#include "interruption.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace corozk::bench {

namespace {

volatile std::sig_atomic_t received = 0;
int event = -1;

extern "C" void on_signal(int) {
    if (received != 0)
        ::_exit(130);  // the kernel ends our server with us
    received = 1;
    int before = errno;
    std::uint64_t one = 1;
    [[maybe_unused]] auto ignored = ::write(event, &one, sizeof one);
    errno = before;
}

}  // namespace

void interruption::install() {
    event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        throw std::system_error(errno, std::generic_category(), "eventfd");
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    for (int number : {SIGHUP, SIGQUIT}) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        if (before.sa_handler != SIG_IGN)  // as nohup wants it
            ::sigaction(number, &action, nullptr);
    }
    // Whoever writes to a pipe that nobody reads is told so.
    ::signal(SIGPIPE, SIG_IGN);
}

bool interruption::requested() noexcept {
    return received != 0;
}

void interruption::check() {
    if (requested())
        throw interrupted();
}

interruption_watcher::interruption_watcher(boost::asio::io_context& context)
    : wake_(context, event) {
    wake_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [&context](const boost::system::error_code& ec) {
                         if (!ec)
                             context.stop();
                     });
}

interruption_watcher::~interruption_watcher() {
    if (wake_.is_open())
        wake_.release();
}

}  // namespace corozk::bench
