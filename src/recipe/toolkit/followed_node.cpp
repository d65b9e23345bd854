// SPDX-License-Identifier: Apache-2.0
#include "recipe/toolkit/followed_node.hpp"

#include "driver/request.hpp"
#include "recipe/toolkit/forward_read.hpp"

namespace corozk::detail {

followed_node::followed_node(port& p, std::string path)
    : wake(p), port_(p), path_(std::move(path)), data_watch_(wake), missing_watch_(wake) {}

task<error_code> followed_node::look() {
    while (!data_watch_.armed() && !missing_watch_.armed()) {
        request read(port_, op_code::get, path_);
        error_code ec = co_await read_or_await(port_, read, data_watch_, missing_watch_);
        if (!ec || ec == zk_errc::no_node) {
            view_ = ec ? node_view() : node_view(read.record, std::move(read.answer));
            co_return error_code();
        }
        if (!retry(port_).again(ec))
            co_return ec;
    }
    co_return error_code();
}

void followed_node::forget() {
    forget_watch(port_, data_watch_, path_);
    forget_watch(port_, missing_watch_, path_);
}

}  // namespace corozk::detail
