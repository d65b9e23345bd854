// SPDX-License-Identifier: Apache-2.0
#include "work_figures.hpp"

#include "usage.hpp"

namespace corozk::bench {

work_figures::work_figures(const std::vector<client>& clients)
    : clients_(clients), before_(use_of(clients)), cpu_(usage::process_cpu_seconds()) {}

void work_figures::add_to(result& r, double units) const {
    double cpu = usage::process_cpu_seconds() - cpu_;
    auto all = used();
    r.add("requests_per_operation", all.requests / units);
    r.add("notifications_per_operation", all.notifications / units);
    r.add("bytes_per_operation", all.bytes / units);
    r.add("listings", all.listings);
    if (all.requests > 0)
        r.add("client_cpu_us_per_request", cpu * 1e6 / all.requests);
    r.add("client_cpu_us_per_operation", cpu * 1e6 / units);
}

}  // namespace corozk::bench
