// SPDX-License-Identifier: Apache-2.0
#include "network/stream.hpp"
#if COROZK_HAS_TLS
#include "network/tls_contexts.hpp"
#endif

#include <utility>

namespace corozk::detail {

stream_factory::stream_factory(const boost::asio::any_io_executor& executor,
                               const client_options& options)
    : executor_(executor), options_(options) {}

std::shared_ptr<stream> stream_factory::make([[maybe_unused]] const server_names& names,
                                             stream::callback ready) {
#if COROZK_HAS_TLS
    if (options_.tls) {
        if (!tls_)
            tls_ = std::make_shared<tls_contexts>(executor_, *options_.tls);
        const std::string& only = options_.tls->server_name;
        return stream::tls(
            executor_, std::move(ready), tls_, only.empty() ? names : server_names{only});
    }
#endif
    return stream::tcp(executor_, std::move(ready));
}

void stream_factory::stop() noexcept {
#if COROZK_HAS_TLS
    if (tls_)
        tls_->stop();
#endif
}

std::string stream_factory::take_warning() {
#if COROZK_HAS_TLS
    if (tls_)
        return tls_->take_warning();
#endif
    return {};
}

}  // namespace corozk::detail
