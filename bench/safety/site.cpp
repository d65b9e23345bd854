// SPDX-License-Identifier: Apache-2.0
#include "safety/site.hpp"

namespace corozk::bench {

std::unique_ptr<site> make_site(const boost::asio::any_io_executor& executor, site_options o) {
    if (o.by->system == "etcd")
        return make_etcd_site(executor, std::move(o));
    if (o.by->system == "redis")
        return make_redis_site(executor, std::move(o));
    return make_corozk_site(std::move(o));
}

}  // namespace corozk::bench
