// SPDX-License-Identifier: Apache-2.0
#include "network/stream.hpp"
#if COROZK_HAS_TLS
#include "network/tls_settings.hpp"
#endif

#include <utility>

namespace corozk::detail {

#if !COROZK_HAS_TLS
class tls_settings {};
#endif

stream_factory::stream_factory(const boost::asio::any_io_executor& executor,
                               const client_options& options)
    : executor_(executor), options_(options) {}

stream_factory::~stream_factory() = default;

std::shared_ptr<stream> stream_factory::make([[maybe_unused]] const std::string& name,
                                             stream::callback ready,
                                             [[maybe_unused]] std::string& problem) {
#if COROZK_HAS_TLS
    if (options_.tls) {
        if (!tls_)
            tls_ = std::make_unique<tls_settings>(*options_.tls);
        std::string why;
        auto context = tls_->context(why);
        if (!context) {
            problem = std::move(why);
            return nullptr;
        }
        if (!why.empty())
            warning_ = std::move(why);
        const std::string& expected = options_.tls->server_name;
        return stream::tls(
            executor_, std::move(ready), std::move(context), expected.empty() ? name : expected);
    }
#endif
    return stream::tcp(executor_, std::move(ready));
}

}  // namespace corozk::detail
