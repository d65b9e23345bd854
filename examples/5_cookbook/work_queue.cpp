// SPDX-License-Identifier: Apache-2.0
// A queue of jobs. One that fails, or whose worker dies, is tried again; after three attempts it goes
// to the dead letters.
//
//   work_queue 127.0.0.1:2181
#include "../2_recipes/program.hpp"
#include <corozk/recipe/queue.hpp>

#include <boost/asio/as_tuple.hpp>

#include <iostream>
#include <map>
#include <stdexcept>

using boost::asio::awaitable;

/// Works on a job. @return whether it is done
awaitable<bool> resize(std::string image) {
    co_return image != "poison.png";
}

awaitable<void> consume_one(corozk::client& zk,
                            corozk::queue& jobs,
                            std::map<std::string, int>& attempts) {
    auto claim = co_await jobs.consume_for(std::chrono::milliseconds(200));
    // Written before the attempt, so that one that kills its worker counts, too. The znode's version
    // is their number.
    auto item = co_await zk.set(jobs.path() + "/" + claim.name(), claim.data());
    if (item.version > 3) {
        corozk::create_options numbered;
        numbered.mode = corozk::create_mode::persistent_sequential;
        corozk::transaction bury;
        bury.create("/jobs-dead/queue-", claim.data(), numbered);
        co_await claim.acknowledge(bury);  // moved in one step: neither lost nor duplicated
        std::cout << claim.data() << " is a dead letter\n";
        co_return;
    }
    ++attempts[claim.data()];
    bool done = co_await resize(claim.data());
    std::cout << claim.data() << ", attempt " << item.version << (done ? ": done\n" : ": failed\n");
    if (done)
        co_await claim.acknowledge();
    else
        co_await claim.release();  // to any worker, at once
}

awaitable<void> work(std::string hosts) {
    auto zk = co_await corozk::client::connect(corozk::client_options(hosts));
    co_await erase_leftovers(zk, "/jobs");
    co_await erase_leftovers(zk, "/jobs-dead");
    corozk::queue jobs(zk, "/jobs");
    corozk::queue dead(zk, "/jobs-dead");
    co_await zk.ensure_path("/jobs-dead");
    for (const char* image : {"a.png", "poison.png", "c.png"})
        co_await jobs.put(image);

    std::map<std::string, int> attempts;
    for (std::size_t left = 3; left > 0; left = co_await jobs.count_items())
        co_await consume_one(zk, jobs, attempts);

    // Dead letters are a queue as well: put them back when the reason is gone.
    auto letter = co_await dead.take();
    if (letter.data != "poison.png" || attempts["poison.png"] != 3 || attempts["c.png"] != 1)
        throw std::runtime_error("not three attempts");
    co_await jobs.put(letter.data);
    co_await zk.close();
}

int main(int argc, char** argv) {
    return run_program(argc, argv, work);
}
