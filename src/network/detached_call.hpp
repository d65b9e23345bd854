// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>

namespace corozk::detail {

/// Runs a function on a thread that nobody waits for, because it calls what can be neither cancelled
/// nor limited in time. The program's signals are blocked there.
/// @throws std::system_error if there is no thread
void run_detached(std::function<void()> function);

/// A callback to an executor, which another thread makes unless it was withdrawn before.
class late_callback {
public:
    /// The executor has outstanding work until then.
    late_callback(const boost::asio::any_io_executor& executor, std::function<void()> then);
    late_callback(const late_callback&) = delete;
    late_callback& operator=(const late_callback&) = delete;

    /// The callback is not called afterwards. On the executor, or when its context is destroyed.
    ~late_callback();

    struct state;
    using weak = std::weak_ptr<state>;

    /// For the other thread, which calls `deliver`.
    weak address() const noexcept { return state_; }

    /// On any thread, under a `fork_guard`.
    static void deliver(const weak& to);

private:
    std::shared_ptr<state> state_;
};

/// A call on a detached thread, and then one on the executor, if this object still lives.
class detached_call {
public:
    /// @param work shares ownership of all that it uses, and must not throw
    /// @throws std::system_error if there is no thread
    detached_call(const boost::asio::any_io_executor& executor,
                  std::function<void()> work,
                  std::function<void()> then);

private:
    late_callback then_;
};

}  // namespace corozk::detail
