// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/followed_node.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"

namespace corozk::detail {

followed_node::followed_node(port& p, std::string path)
    : wake(p), port_(p), path_(std::move(path)), data_watch_(wake), missing_watch_(wake) {}

task<error_code> followed_node::look() {
    bool watched = false;  // by an `exists` that found the node
    while (!data_watch_.armed() && !missing_watch_.armed()) {
        request read(port_, op_code::get, path_);
        read.attach(data_watch_);
        error_code ec = co_await read_forward(port_, read);
        if (retry(port_).again(ec)) {
            data_watch_.disarm();
            continue;
        }
        if (!ec) {
            view_ = node_view(read.record, std::move(read.answer));
            co_return ec;
        }
        if (ec != zk_errc::no_node) {
            if (watched)
                port_.watch_dropped(watch_kind::data, path_);
            co_return ec;
        }
        request exists(port_, op_code::exists, path_);
        exists.attach(missing_watch_);
        ec = co_await read_forward(port_, exists);
        if (ec == zk_errc::no_node) {
            view_ = node_view();
            co_return error_code();
        }
        // It has been created in between: read it.
        missing_watch_.disarm();
        watched = !ec;
        if (ec && !retry(port_).again(ec))
            co_return ec;
    }
    co_return error_code();
}

void followed_node::forget() {
    forget_watch(port_, data_watch_, watch_kind::data, path_);
    forget_watch(port_, missing_watch_, watch_kind::exists, path_);
}

}  // namespace corozk::detail
