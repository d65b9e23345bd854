// SPDX-License-Identifier: Apache-2.0
#include "network/tls_contexts.hpp"

#include "network/fork_guard.hpp"

#include <exception>
#include <system_error>

namespace corozk::detail {

tls_contexts::tls_contexts(const boost::asio::any_io_executor& executor, tls_options options)
    : executor_(executor), settings_(std::move(options)), process_(forks()) {}

void tls_contexts::look::take() noexcept {
    try {
        context = settings.context(problem);
    } catch (const std::exception& e) {
        problem = e.what();
    }
}

void tls_contexts::get(callback then) {
    if (std::exchange(process_, forks()) != forks())
        stop();  // the thread is the parent's
    waiting_.push_back(std::move(then));
    if (call_)
        return;
    auto l = std::make_shared<look>(look{settings_, {}, {}});
    if (!settings_.may_take_long()) {
        l->take();
        return looked(*l);
    }
    try {
        call_.emplace(
            executor_, [l] { l->take(); }, [this, l] { looked(*l); });
    } catch (const std::system_error&) {
        l->take();  // there is no thread
        looked(*l);
    }
}

void tls_contexts::stop() noexcept {
    call_.reset();
    waiting_.clear();
}

void tls_contexts::looked(look& l) {
    auto self = shared_from_this();
    call_.reset();
    settings_ = std::move(l.settings);
    if (l.context && !l.problem.empty())
        warning_ = l.problem;
    for (const callback& then : std::exchange(waiting_, {}))
        then(l.context, l.problem);
}

}  // namespace corozk::detail
