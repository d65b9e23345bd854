// SPDX-License-Identifier: Apache-2.0
#include "judge/judged_process.hpp"
#include "statistics.hpp"
#include "systems/lock_party.hpp"
#include "systems/measure.hpp"
#include <corozk/testing/temporary_directory.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>

namespace corozk::bench {

namespace {

namespace asio = boost::asio;

/// A process that holds it and is killed, and a client of ours that waits.
class loss {
public:
    loss(const asio::any_io_executor& executor, lock_party& party, const lock_wish& wish)
        : party_(party),
          holder_(executor, start_of(wish, folder_.path()), [] {}),
          timer_(executor) {}

    /// @param after so long after it is sure that the other one waits
    asio::awaitable<void> play(std::chrono::milliseconds after) {
        co_await party_.invite();  // to look on
        co_await party_.invite();
        co_await party_.until([this] { return holds(); }, [] { return 0; });
        party_.begin(wait_once());
        co_await party_.until_queued(2);
        timer_.expires_after(after);
        co_await timer_.async_wait(asio::use_awaitable);
        if (granted_)
            throw std::logic_error("it was granted while another process held it");
        killed_at_ = clock::now();
        holder_.kill();
        co_await party_.until([this] { return party_.working() == 0; }, [] { return 0; });
    }

    /// How long nobody has held it.
    double seconds() const { return to_seconds(granted_at_ - killed_at_); }

private:
    static judged_process::start start_of(const lock_wish& wish,
                                          const std::filesystem::path& folder) {
        judged_process::start s;
        s.command = {"/proc/self/exe",
                     "worker",
                     "systems",
                     wish.system,
                     wish.hosts,
                     wish.recipe,
                     wish.name,
                     std::to_string(wish.timeout.count())};
        s.folder = folder / "holder";
        return s;
    }

    bool holds() {
        if (auto how = holder_.end())
            throw std::runtime_error("the process that holds it " + *how);
        return !holder_.lines().empty();
    }

    asio::awaitable<void> wait_once() {
        co_await party_[1].acquire();
        granted_at_ = clock::now();
        granted_ = true;
        co_await party_[1].release();
    }

    testing::temporary_directory folder_;
    lock_party& party_;
    judged_process holder_;
    asio::steady_timer timer_;
    bool granted_ = false;
    clock::time_point killed_at_{};
    clock::time_point granted_at_{};
};

}  // namespace

asio::awaitable<void> measure_losses(job& j, const lock_wish& wish, std::size_t kills, result& r) {
    auto executor = co_await asio::this_coro::executor;
    for (std::size_t i = 0; i < kills; ++i) {
        j.on.shown().update(wish.system + ": killing holders", i, kills);
        lock_wish mine = wish;
        mine.name += "-" + std::to_string(i);
        // Renewals come three times in the timeout: at any time between two of them.
        auto after = wish.timeout / 3 * static_cast<int>(i) / static_cast<int>(kills);
        lock_party party(executor, mine);
        loss one(executor, party, mine);
        co_await party.play(one.play(after));
        r.add("loss_s", one.seconds());
    }
}

}  // namespace corozk::bench
