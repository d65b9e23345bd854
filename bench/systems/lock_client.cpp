// SPDX-License-Identifier: Apache-2.0
#include "systems/lock_client.hpp"

#include <stdexcept>

namespace corozk::bench {

std::unique_ptr<lock_client> make_lock_client(const boost::asio::any_io_executor& executor,
                                              const lock_wish& wish) {
    if (wish.system == "corozk")
        return make_corozk_client(wish);
    if (wish.system == "etcd")
        return make_etcd_client(executor, wish);
    if (wish.system == "redis")
        return make_redis_client(executor, wish);
    throw std::logic_error("no such system: " + wish.system);
}

}  // namespace corozk::bench
