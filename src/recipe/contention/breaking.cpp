// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/breaking.hpp"

#include "driver/pending_call.hpp"
#include "driver/request.hpp"
#include "operation/path.hpp"

#include <utility>

namespace corozk::detail {

task<error_code> erase_contender(port& p, const contention_settings& settings, std::string path) {
    const std::string& suffix = settings.record_suffix;
    if (suffix.empty()) {
        request erase(p, op_code::erase, std::move(path));
        co_return co_await erase;
    }
    // In this order, as no record is created without the contender's node.
    if (path.ends_with(suffix))
        path.resize(path.size() - suffix.size());
    request contender(p, op_code::erase, path);
    request record(p, op_code::erase, path + suffix);
    contender.send();
    record.send();
    error_code ec = co_await contender;
    error_code behind = co_await record;
    // Either may be gone already; the record is what blocks others.
    if (!ec || ec == zk_errc::no_node)
        std::swap(ec, behind);
    co_return ec == zk_errc::no_node ? behind : ec;
}

task<> break_contender(port& p, contention_settings settings, std::string path, user_call<> call) {
    auto shared = cancellable(std::move(call), any_cancellation);
    bool contender_of_ours =
        parent_path(path) == settings.parent && settings.names.parse(base_name(path));
    if (!contender_of_ours) {
        shared->complete(
            p.reject(errc::bad_path, "break_contender: not a contender of this recipe: ", path));
        co_return;
    }
    error_code ec = co_await erase_contender(p, settings, std::move(path));
    shared->complete(ec);
}

}  // namespace corozk::detail
