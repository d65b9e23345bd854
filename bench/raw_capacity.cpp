// SPDX-License-Identifier: Apache-2.0
// What the server can do when many requests are on their way.
#include "raw_loop.hpp"
#include "raw_session.hpp"

#include <array>

namespace corozk::bench {

template <class Send>
double raw_loop::rate_of(std::size_t count, std::size_t in_flight, Send send) {
    raw_session& s = *first_;
    auto began = clock::now();
    for (std::size_t i = 0; i < count; ++i) {
        if (on_progress && i % 1'000 == 0)
            on_progress(i, count);
        ++s.started;
        send(s);
        while (s.started - s.answered >= in_flight)
            step();
    }
    wait();
    return static_cast<double>(count) / to_seconds(clock::now() - began);
}

double raw_loop::sets_per_second(std::size_t count, std::size_t in_flight) {
    std::string node = path(0);
    start(*first_, kind::create, node);
    wait();
    double rate = rate_of(count, in_flight, [&node](raw_session& s) {
        expect(::zoo_aset(
                   s.handle, node.c_str(), "0123456789abcdef", 16, -1, raw_session::on_stat, &s),
               "set");
    });
    start(*first_, kind::erase, node);
    wait();
    return rate;
}

double raw_loop::transactions_per_second(std::size_t count, std::size_t in_flight) {
    std::string node = path(0);
    std::string other = path(1);
    start(*first_, kind::create, node);
    wait();
    // What they say is not looked at: all may write it to the same place.
    std::array<zoo_op_result_t, 4> results{};
    std::array<char, 256> created{};
    std::array<zoo_op_t, 4> steps{};
    ::zoo_check_op_init(&steps[0], node.c_str(), -1);
    ::zoo_create_op_init(&steps[1],
                         other.c_str(),
                         "",
                         0,
                         &ZOO_OPEN_ACL_UNSAFE,
                         ZOO_EPHEMERAL,
                         created.data(),
                         static_cast<int>(created.size()));
    ::zoo_delete_op_init(&steps[2], other.c_str(), -1);
    ::zoo_set_op_init(&steps[3], node.c_str(), "0123456789abcdef", 16, -1, nullptr);
    double rate = rate_of(count, in_flight, [&](raw_session& s) {
        expect(::zoo_amulti(s.handle,
                            static_cast<int>(steps.size()),
                            steps.data(),
                            results.data(),
                            raw_session::on_nothing,
                            &s),
               "transaction");
    });
    start(*first_, kind::erase, node);
    wait();
    return rate;
}

}  // namespace corozk::bench
