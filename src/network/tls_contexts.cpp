// SPDX-License-Identifier: Apache-2.0
#include "network/tls_contexts.hpp"

#include "network/fork_guard.hpp"

#include <exception>
#include <system_error>

namespace corozk::detail {

tls_contexts::tls_contexts(const boost::asio::any_io_executor& executor, tls_options options)
    : executor_(executor), options_(std::move(options)), settings_(options_), process_(forks()) {}

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
    const bool files = !options_.ca_file.empty() || !options_.certificate_file.empty() ||
                       !options_.key_file.empty();
    if (context_ && !files)
        return then(context_, {});
    waiting_.push_back(std::move(then));
    if (call_)
        return;
    auto l = std::make_shared<look>(look{settings_, {}, {}});
    if (options_.context) {
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
    context_ = l.context;
    if (context_ && !l.problem.empty())
        warning_ = std::move(l.problem);
    for (const callback& then : std::exchange(waiting_, {}))
        then(context_, l.problem);
}

}  // namespace corozk::detail
