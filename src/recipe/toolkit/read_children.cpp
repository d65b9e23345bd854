// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/read_children.hpp"

#include "driver/request.hpp"
#include "operation/path.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"

#include <deque>
#include <utility>

namespace corozk::detail {

task<error_code> read_children(port& p,
                               std::string parent,
                               std::map<std::string, node_view>& found,
                               std::function<bool(std::string_view name)> wanted) {
    for (;;) {
        found.clear();
        request listing(p, op_code::children, parent);
        error_code ec = co_await read_forward(p, listing);
        if (ec)
            co_return ec == zk_errc::no_node ? error_code() : ec;
        std::deque<request> reads;
        for (std::size_t i = 0; i < listing.names.size(); ++i) {
            if (wanted && !wanted(listing.names[i]))
                continue;
            reads.emplace_back(p, op_code::get, join_path(parent, listing.names[i]));
            reads.back().send();
        }
        bool lags = false;
        error_code problem;  // preferably one that a retry can resolve
        for (request& read : reads) {
            ec = co_await read;
            lags = lags || may_lag(p, read);
            if (!ec)
                found.emplace(base_name(read.path), node_view(read.record, std::move(read.answer)));
            else if (ec != zk_errc::no_node && !is_transient(problem))
                problem = ec;
        }
        if (!lags)
            co_return problem;
    }
}

}  // namespace corozk::detail
