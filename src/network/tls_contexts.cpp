// SPDX-License-Identifier: Apache-2.0
#include "network/tls_contexts.hpp"

#include "network/fork_guard.hpp"

#include <boost/asio/post.hpp>

#include <future>
#include <system_error>

namespace corozk::detail {

/// What the thread uses. It may outlive the client.
struct tls_contexts::look {
    explicit look(tls_file_reader r) : reader(std::move(r)) {}

    void take() noexcept {
        // What an unwanted look takes out of a pipe does not come out again.
        if (before) {
            before->taken.get_future().wait();
            for (auto& [file, content] : before->files.piped)
                reader.piped.insert_or_assign(file, content);
            before.reset();
        }
        files = reader.read();
        taken.set_value();
    }

    tls_file_reader reader;
    std::shared_ptr<look> before;
    tls_files files;
    std::promise<void> taken;
};

tls_contexts::tls_contexts(const boost::asio::any_io_executor& executor, tls_options options)
    : executor_(executor), settings_(std::move(options)), process_(forks()) {}

void tls_contexts::get(callback then) {
    if (std::exchange(process_, forks()) != forks()) {
        stop();  // the thread is the parent's
        look_.reset();
    }
    waiting_.push_back(std::move(then));
    if (call_ || making_)
        return;
    if (settings_.needs_files())
        return read();
    looked(settings_.reader().read());
}

void tls_contexts::read() {
    auto next = std::make_shared<look>(settings_.reader());
    next->before = std::move(look_);
    look_ = next;
    try {
        call_.emplace(
            executor_,
            [next] { next->take(); },
            [this, next] {
                call_.reset();
                looked(next->files);
            });
    } catch (const std::system_error&) {
        next->take();  // there is no thread
        looked(next->files);
    }
}

void tls_contexts::stop() noexcept {
    call_.reset();
    making_ = false;
    waiting_.clear();
}

void tls_contexts::looked(const tls_files& files) {
    look_.reset();
    settings_.use(files);
    making_ = true;
    make_some();
}

void tls_contexts::make_some() {
    if (!making_)
        return;
    auto self = shared_from_this();
    if (!settings_.step())
        return boost::asio::post(executor_, [self] { self->make_some(); });
    making_ = false;
    if (settings_.context() && !settings_.problem().empty())
        warning_ = settings_.problem();
    for (const callback& then : std::exchange(waiting_, {}))
        then(settings_.context(), settings_.problem());
}

}  // namespace corozk::detail
