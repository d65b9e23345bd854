// SPDX-License-Identifier: Apache-2.0
// The public classes, and the configuration in one node.
#include "driver/ensure_path.hpp"
#include "driver/port.hpp"
#include "operation/path.hpp"
#include "recipe/configuration/core.hpp"
#include <corozk/recipe/configuration.hpp>

namespace corozk {

namespace detail {

void configuration_writer::publish(std::string data, time_limit limit, handler_of<> handler) {
    constexpr std::size_t overhead = 1024;
    if (data.size() + path().size() + overhead > port_.max_request_size())
        return refuse(shared_from_this(), std::move(handler), errc::too_large);
    port_.spawn(run(shared_from_this(), std::move(data), limit, std::move(handler)));
}

task<> configuration_writer::run(std::shared_ptr<configuration_writer> self,
                                 std::string data,
                                 time_limit limit,
                                 handler_of<> handler) {
    signal wake(self->port_);
    waiting_call<> call(*self, std::move(handler), wake, limit);
    error_code ec = co_await self->write(std::move(data), call);
    if (call.waiting())
        call.complete(ec);
}

/// Conditional, so that a retry after a lost response does not overwrite later values.
task<error_code> configuration_writer::write(std::string data, const pending_call<>& call) {
    retry attempts(port_, while_reachable);
    std::int64_t seen = 0;  // the mzxid on which the attempt with unknown outcome was based
    for (;;) {
        request get(port_, op_code::get, path());
        const bool doubtful = attempts.doubtful();
        // An older state may look as if the attempt had been applied, or had not.
        error_code ec = co_await behind_sync(port_, get, doubtful);
        retry reading = attempts;  // it leaves no doubt
        if (co_await again_with_quorum(port_, reading, ec))
            continue;
        if (ec && ec != zk_errc::no_node)
            co_return doubtful ? make_error_code(zk_errc::connection_loss) : ec;
        bool missing = ec == zk_errc::no_node;
        if (doubtful) {
            if (!missing && get.answer == data)
                co_return error_code();
            if ((missing ? 0 : get.record.mzxid) != seen) {
                co_return make_error_code(zk_errc::connection_loss);
            }
        }
        // The call is over: do not overwrite values written since.
        if (!call.waiting())
            co_return boost::asio::error::operation_aborted;
        seen = missing ? 0 : get.record.mzxid;
        request write(port_, missing ? op_code::create : op_code::set, path());
        write.data = data;
        write.entries = entries_;
        write.version = get.record.version;
        write.only_for(&call.users_call());
        if (missing)
            ec = co_await create_with_parents(port_, write);
        else
            ec = co_await write;
        const bool again = co_await again_with_quorum(port_, attempts, ec);
        bool moved =
            ec == zk_errc::bad_version || ec == zk_errc::node_exists || ec == zk_errc::no_node;
        if (!again && !moved)
            co_return ec;
    }
}

}  // namespace detail

configuration::configuration(const client& c, std::string path, configuration_options options)
    : recipe_object(c.implementation(), path, std::move(options.acl)), cache_(c, path) {}

void configuration::start_publish(const impl_ptr& writer,
                                  std::string data,
                                  time_limit limit,
                                  handler_of<> handler) {
    if (detail::usable_at_path(writer, handler))
        writer->publish(std::move(data), limit, std::move(handler));
}

basic_configuration::basic_configuration(const client& c,
                                         std::string path,
                                         configuration_options options,
                                         bool versioned)
    : recipe_object(c.implementation(),
                    std::move(path),
                    std::move(options),
                    versioned ? detail::configuration_layout::versioned
                              : detail::configuration_layout::ready) {}

configuration_version basic_configuration::current() const {
    return impl_ ? impl_->current() : configuration_version();
}

void basic_configuration::start_next(const impl_ptr& impl,
                                     std::uint64_t seen,
                                     handler_of<configuration_version> handler) {
    if (!detail::usable_at_path(impl, handler))
        return;
    auto call = std::make_unique<detail::configuration_core::call_type>(
        *impl, std::move(handler), impl->wake());
    call->ahead_of_copies();
    impl->next(seen, std::move(call));
}

void basic_configuration::start_publish(const impl_ptr& impl,
                                        configuration_parts parts,
                                        time_limit limit,
                                        handler_of<> handler) {
    if (detail::usable_at_path(impl, handler))
        impl->publish(std::move(parts), limit, std::move(handler));
}

}  // namespace corozk
