// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/still_loop.hpp"

#include "corozk/testing/turn_clock.hpp"

#include <algorithm>
#include <utility>

namespace corozk::testing {

still_loop::still_loop(std::function<void(std::chrono::nanoseconds)> tell)
    : thread_([this, tell = std::move(tell)] {
          using namespace std::chrono_literals;
          while (!over_) {
              std::chrono::nanoseconds longest{};
              auto last = turn_clock::now();
              const auto end = last + 3ms;
              while (last < end) {
                  const auto now = turn_clock::now();
                  longest = std::max(longest, now - last);
                  last = now;
              }
              tell(longest);
              std::this_thread::sleep_for(27ms);
          }
      }) {}

still_loop::~still_loop() {
    over_ = true;
    thread_.join();
}

}  // namespace corozk::testing
