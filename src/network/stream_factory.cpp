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

#if COROZK_HAS_TLS
std::shared_ptr<boost::asio::ssl::context> stream_factory::tls_context(std::string& problem) {
    if (!tls_)
        tls_ = std::make_unique<tls_settings>(*options_.tls);
    std::string why;
    auto context = tls_->context(why);
    if (!why.empty())
        (context ? warning_ : problem) = std::move(why);
    return context;
}
#endif

std::string stream_factory::tls_problem() {
    std::string problem;
#if COROZK_HAS_TLS
    if (options_.tls)
        tls_context(problem);
#endif
    return problem;
}

std::shared_ptr<stream> stream_factory::make([[maybe_unused]] const server_names& names,
                                             stream::callback ready,
                                             [[maybe_unused]] std::string& problem) {
#if COROZK_HAS_TLS
    if (options_.tls) {
        auto context = tls_context(problem);
        if (!context)
            return nullptr;
        const std::string& only = options_.tls->server_name;
        return stream::tls(executor_,
                           std::move(ready),
                           std::move(context),
                           only.empty() ? names : server_names{only});
    }
#endif
    return stream::tcp(executor_, std::move(ready));
}

}  // namespace corozk::detail
