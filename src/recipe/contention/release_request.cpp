// SPDX-License-Identifier: Apache-2.0
#include "recipe/contention/release_request.hpp"

#include "driver/pending_call.hpp"
#include "driver/request.hpp"
#include "driver/signal.hpp"
#include "operation/path.hpp"
#include "recipe/contention/breaking.hpp"
#include "recipe/toolkit/forward_read.hpp"
#include "recipe/toolkit/retry.hpp"
#include "recipe/toolkit/update_node.hpp"

namespace corozk::detail {

namespace {

/// Writes the request once, even if responses are lost, without overwriting other clients' data.
/// @return `no_node` if the contender does not exist
task<error_code> write_request(port& p,
                               const contention_settings& settings,
                               std::string path,
                               retry& attempts) {
    if (parent_path(path) != settings.parent || !settings.names.parse(base_name(path))) {
        co_return p.reject(
            errc::bad_path, "request_release: not a contender of this recipe: ", path);
    }
    const std::string& text = settings.release_request;
    if (text.empty()) {
        co_return p.reject(
            errc::not_supported, "request_release: this format has no such requests: ", path);
    }
    auto decide = [&](const request& read, std::optional<std::string>& data) {
        const bool replaces = settings.request_replaces_data;
        const bool written =
            replaces ? read.answer == text : has_release_request(read.answer, text);
        if (!written || read.record.version == 0)
            data = with_release_request(read.answer, text, replaces);
        return error_code();
    };
    co_return co_await update_node(p, std::move(path), attempts, update_options(), decide);
}

}  // namespace

bool has_release_request(std::string_view data, std::string_view text) noexcept {
    if (text.empty() || data.size() < text.size())
        return false;
    if (data.substr(data.size() - text.size()) != text)
        return false;
    return data.size() == text.size() || data[data.size() - text.size() - 1] == '\n';
}

std::string with_release_request(std::string_view data, std::string_view text, bool replaces) {
    std::string result(replaces ? std::string_view() : data);
    if (!result.empty())
        result += '\n';
    result += text;
    return result;
}

std::string_view without_release_request(std::string_view data,
                                         std::string_view text,
                                         std::int32_t version) noexcept {
    if (version == 0 || !has_release_request(data, text))
        return data;
    data.remove_suffix(text.size());
    if (!data.empty())
        data.remove_suffix(1);
    return data;
}

task<> ask_for_release(
    port& p, contention_settings settings, std::string path, bool patient, user_call<> call) {
    auto shared = cancellable(std::move(call), any_cancellation);
    retry attempts(p, until_known(patient));
    error_code ec = co_await write_request(p, settings, std::move(path), attempts);
    shared->complete(ec);
}

task<> insist_on_release(port& p,
                         contention_settings settings,
                         std::string path,
                         time_limit grace,
                         user_call<bool> call) {
    signal wake(p);
    auto shared = cancellable(std::move(call), any_cancellation, &wake);
    retry asking(p, until_known(false));
    error_code ec = co_await write_request(p, settings, path, asking);
    const bool asked = !ec || (asking.doubtful() && ec == zk_errc::no_node);
    const time_point deadline = grace.from(p.now());
    alarm timer(p, wake);
    if (deadline != time_point::max())
        timer.set(deadline);
    watch_signal watch(wake);
    session_signal changes(p, wake);
    bool erasing = false;
    retry removal(p, in_session_while_reachable);  // in doubt if a response was lost
    while (!ec && shared->waiting()) {
        erasing = erasing || timer.rang();
        if (erasing) {
            ec = co_await erase_contender(p, settings, path);
            if (!co_await again_with_quorum(p, removal, ec))
                break;
            ec = error_code();
            continue;
        }
        if (!watch.armed()) {
            request look(p, op_code::get, path);
            look.attach(watch);
            ec = co_await read_forward(p, look);
            if (retry(p, in_session_while_reachable).again(ec)) {
                ec = error_code();
                continue;
            }
            if (ec)
                break;
        }
        co_await wake.wait();
    }
    if (watch.armed()) {
        watch.disarm();
        if (!erasing)
            p.watch_dropped(watch_kind::data, path);
    }
    bool removed = erasing && (!ec || (removal.doubtful() && ec == zk_errc::no_node));
    // Released after the request.
    if (asked && ec == zk_errc::no_node)
        ec = error_code();
    shared->complete(ec, removed);
}

}  // namespace corozk::detail
