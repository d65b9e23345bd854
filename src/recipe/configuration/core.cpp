// SPDX-License-Identifier: Apache-2.0
#include "recipe/configuration/core.hpp"

#include "operation/path.hpp"

#include <algorithm>
#include <utility>

namespace corozk::detail {

configuration_core::configuration_core(port& p,
                                       std::string path,
                                       configuration_options options,
                                       configuration_layout layout)
    : recipe_core(p),
      wake_(p),
      path_(std::move(path)),
      options_(std::move(options)),
      layout_(layout) {}

std::string configuration_core::at(std::string_view name) const {
    return join_path(path_, name);
}

std::size_t configuration_core::request_bytes() const {
    constexpr std::size_t comfortable = 256 * 1024;
    return std::min(comfortable, port_.max_request_size() / 2);
}

void configuration_core::stop() noexcept {
    recipe_core::stop();
    if (copy_)
        copy_->retire();
    fail_all(boost::asio::error::operation_aborted);
    wake_.set();
}

void configuration_core::fail_all(error_code ec) {
    auto calls = std::move(calls_);
    calls_.clear();
    for (auto& [seen, call] : calls) {
        if (call->waiting())
            call->fail(ec);
    }
}

}  // namespace corozk::detail
