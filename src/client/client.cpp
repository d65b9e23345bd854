// SPDX-License-Identifier: Apache-2.0
#include "client/user_operation.hpp"
#include "client/user_watch.hpp"
#include "driver/ensure_path.hpp"
#include "driver/erase_tree.hpp"
#include "driver/pending_call.hpp"
#include "operation/path.hpp"
#include "operation/step_path.hpp"
#include "session/session.hpp"
#include <corozk/client.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

namespace corozk {

namespace {

using namespace detail;

using session_ptr = std::shared_ptr<session_view>;

/// Rejects an invalid operation, logs the reason and completes the handler.
/// @param path_fault the result of `path_problem`
/// @return whether the operation is valid
template <class... Values>
bool acceptable(const session_ptr& s,
                std::string_view operation,
                const std::string& path,
                const char* path_fault,
                handler_of<Values...>& handler) {
    if (s && !path_fault)
        return true;
    error_code reason = errc::closed;
    if (s)
        reason = s->reject(errc::bad_path, operation, ": path \"", path, "\" ", path_fault);
    refuse(s, std::move(handler), reason);
    return false;
}

constexpr auto nothing = [](operation&) {};

/// Starts an operation: `fill` completes the request, `convert` makes the result from the response.
template <class... Values, class Convert, class Fill = decltype(nothing)>
void start_operation(const session_ptr& s,
                     op_code code,
                     std::string path,
                     handler_of<Values...> handler,
                     Convert convert,
                     Fill fill = {}) {
    auto* op = new user_operation<Convert, Values...>(
        s, code, std::move(path), std::move(handler), std::move(convert));
    fill(*op);
    op->launch();
}

/// Same as above, if the path is valid.
template <class... Values, class... Functions>
void submit(const session_ptr& s,
            op_code code,
            std::string path,
            handler_of<Values...> handler,
            Functions... functions) {
    if (acceptable(s, to_string(code), path, path_problem(path), handler))
        start_operation(s, code, std::move(path), std::move(handler), std::move(functions)...);
}

/// Same as above, for a read that sets a watch.
template <class Result, class Convert>
void submit_watching(const session_ptr& s,
                     std::string_view name,
                     op_code code,
                     std::string path,
                     watch_kind kind,
                     handler_of<Result> handler,
                     Convert convert) {
    if (!acceptable(s, name, path, path_problem(path), handler))
        return;
    auto node = std::make_shared<user_single_watch>(s, path, kind, code == op_code::get_config);
    start_operation(
        s,
        code,
        std::move(path),
        std::move(handler),
        [node, convert](operation& op) mutable {
            Result result;
            convert(op, result);
            result.changed = watch(std::move(node));
            return result;
        },
        [&node](operation& op) { op.attach(*node); });
}

// Conversions of responses.
constexpr auto to_data = [](operation& op) {
    node_data result;
    result.data = std::move(op.answer);
    result.stat = op.record;
    return result;
};
constexpr auto to_children = [](operation& op) {
    node_children result;
    result.names = op.names.to_vector();
    result.stat = op.record;
    return result;
};
constexpr auto to_record = [](operation& op) { return op.record; };
constexpr auto to_record_if_any = [](operation& op) {
    bool missing = op.error == zk_errc::no_node;
    auto result = op.error ? std::optional<stat>() : std::optional<stat>(op.record);
    if (missing)
        op.error = error_code();
    return result;
};

constexpr const char* config_path = "/zookeeper/config";

/// A client that is being connected by the static `client::connect`.
struct connecting {
    connecting(session_ptr s, handler_of<client> handler)
        : made(std::move(s)), call(*made, std::move(handler)) {}

    session_ptr made;
    user_call<client> call;
    boost::asio::cancellation_signal stop;
    bool begun = false;
};

task<> ensure_path_driver(port& p,
                          std::string path,
                          acl entries,
                          create_mode mode,
                          std::shared_ptr<pending_call<>> call) {
    error_code ec =
        co_await ensure_path(p, std::move(path), std::move(entries), mode, &call->users_call());
    call->complete(ec);
}

}  // namespace

client::client(executor_type executor, client_options options)
    : impl_(session::make(std::move(executor), std::move(options))) {}

client::client() noexcept = default;
client::client(impl_ptr impl) noexcept : impl_(std::move(impl)) {}
client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
    if (this != &other) {
        if (impl_)
            impl_->release();
        impl_ = std::move(other.impl_);
    }
    return *this;
}

client::~client() {
    if (impl_)
        impl_->release();
}

client::executor_type client::get_executor() const noexcept {
    return executor_of(impl_);
}

client client::below(std::string path) const {
    if (!impl_)
        return client();
    if (path_problem(path))
        throw error(errc::bad_path, "below", path);
    return client(impl_->core().below(impl_->absolute(std::move(path))));
}

session_status client::status() const {
    if (impl_)
        return impl_->core().look();
    session_status none;
    none.state = session_state::closed;
    none.reason = errc::closed;
    return none;
}

session_credentials client::credentials() const {
    return impl_ ? impl_->core().credentials() : session_credentials();
}

client_counters client::counters() const {
    return impl_ ? impl_->core().snapshot() : client_counters();
}

std::string client::hosts() const {
    return impl_ ? impl_->core().options().hosts : std::string();
}

void client::start_new(executor_type executor, client_options options, handler_of<client> handler) {
    auto c = std::make_shared<connecting>(session::make(executor, std::move(options)),
                                          std::move(handler));
    // A weak reference: the slot may outlive the attempt.
    c->call.on_cancel([weak = std::weak_ptr(c)](cancellation_type type) {
        auto self = weak.lock();
        if (!self)
            return;
        if (self->begun) {
            self->stop.emit(type);
        } else {
            self->call.fail(boost::asio::error::operation_aborted);
        }
    });
    // Posted, as the initiating thread may not belong to the executor (futures).
    boost::asio::post(executor, [c] {
        if (!c->call.waiting())
            return;
        c->begun = true;
        auto connected = [c](error_code ec) {
            if (ec)
                c->made->release();  // it may have had a session, and has no owner
            c->call.complete(ec, ec ? client() : client(c->made));
        };
        c->made->core().connect(user_call<>(
            *c->made, boost::asio::bind_cancellation_slot(c->stop.slot(), std::move(connected))));
    });
}

void client::start_connect(const impl_ptr& impl, handler_of<> handler) {
    if (!impl)
        return refuse(impl, std::move(handler), errc::closed);
    impl->core().connect(user_call<>(*impl, std::move(handler)));
}

void client::start_close(const impl_ptr& impl, handler_of<> handler) {
    if (!impl)
        return immediate_result<>(executor_of(impl), std::move(handler), error_code());
    impl->core().close(user_call<>(*impl, std::move(handler)), false);
}

void client::start_leave(const impl_ptr& impl, handler_of<> handler) {
    if (!impl)
        return immediate_result<>(executor_of(impl), std::move(handler), error_code());
    impl->core().close(user_call<>(*impl, std::move(handler)), true);
}

void client::start_next_status(const impl_ptr& impl,
                               session_status seen,
                               handler_of<session_status> handler) {
    if (!impl)
        return refuse(impl, std::move(handler), errc::closed);
    impl->core().next_status(seen, user_call<session_status>(*impl, std::move(handler)));
}

void client::start_set_hosts(const impl_ptr& impl, std::string hosts, handler_of<> handler) {
    if (!impl)
        return refuse(impl, std::move(handler), errc::closed);
    error_code problem = impl->core().set_hosts(hosts);
    user_call<> call(*impl, std::move(handler));
    call.ahead_of_copies();
    call.complete(problem);
}

void client::start_create(const impl_ptr& impl,
                          std::string path,
                          std::string data,
                          create_options options,
                          acl entries,
                          handler_of<created_node> handler) {
    const char* fault = path_problem(path, is_sequential(options.mode));
    if (!acceptable(impl, "create", path, fault, handler))
        return;
    if (options.acl && entries.empty())
        return refuse(impl, std::move(handler), zk_errc::invalid_acl);
    if (const char* problem = ttl_problem(options.mode, options.ttl))
        return refuse(
            impl, std::move(handler), impl->reject(errc::bad_option, "create: ", problem));
    start_operation(
        impl,
        op_code::create,
        std::move(path),
        std::move(handler),
        [](operation& op) {
            created_node result;
            result.path = std::move(op.answer);
            result.stat = op.record;
            return result;
        },
        [&](operation& op) {
            op.data = std::move(data);
            op.mode = options.mode;
            op.ttl = options.ttl;
            op.entries = std::move(entries);
        });
}

void client::start_ensure_path(const impl_ptr& impl,
                               std::string path,
                               create_options options,
                               acl entries,
                               handler_of<> handler) {
    if (!acceptable(impl, "ensure_path", path, path_problem(path), handler))
        return;
    if (options.acl && entries.empty())
        return refuse(impl, std::move(handler), zk_errc::invalid_acl);
    const bool permanent =
        options.mode == create_mode::persistent || options.mode == create_mode::container;
    if (!permanent || options.ttl.count() > 0) {
        const auto reason =
            impl->reject(errc::bad_option,
                         "ensure_path: the mode must be persistent or container, without a TTL");
        return refuse(impl, std::move(handler), reason);
    }
    auto call = cancellable(user_call<>(*impl, std::move(handler)), any_cancellation);
    impl->spawn(ensure_path_driver(
        *impl, std::move(path), std::move(entries), options.mode, std::move(call)));
}

void client::start_erase_tree(const impl_ptr& impl, std::string path, handler_of<> handler) {
    if (!acceptable(impl, "erase_tree", path, path_problem(path), handler))
        return;
    auto call = cancellable(user_call<>(*impl, std::move(handler)), any_cancellation);
    impl->spawn(detail::erase_tree(*impl, std::move(path), std::move(call)));
}

void client::start_get(const impl_ptr& impl, std::string path, handler_of<node_data> handler) {
    submit(impl, op_code::get, std::move(path), std::move(handler), to_data);
}

void client::start_watch_data(const impl_ptr& impl,
                              std::string path,
                              handler_of<watched_data> handler) {
    auto fill = [](operation& op, watched_data& result) { result.node = to_data(op); };
    auto kind = watch_kind::data;
    submit_watching(
        impl, "watch_data", op_code::get, std::move(path), kind, std::move(handler), fill);
}

void client::start_set(const impl_ptr& impl,
                       std::string path,
                       std::string data,
                       std::int32_t version,
                       handler_of<stat> handler) {
    submit(impl, op_code::set, std::move(path), std::move(handler), to_record, [&](operation& op) {
        op.data = std::move(data);
        op.version = version;
    });
}

void client::start_exists(const impl_ptr& impl,
                          std::string path,
                          handler_of<std::optional<stat>> handler) {
    submit(impl, op_code::exists, std::move(path), std::move(handler), to_record_if_any);
}

void client::start_watch_exists(const impl_ptr& impl,
                                std::string path,
                                handler_of<watched_stat> handler) {
    auto fill = [](operation& op, watched_stat& result) { result.stat = to_record_if_any(op); };
    auto kind = watch_kind::exists;
    submit_watching(
        impl, "watch_exists", op_code::exists, std::move(path), kind, std::move(handler), fill);
}

void client::start_get_children(const impl_ptr& impl,
                                std::string path,
                                handler_of<node_children> handler) {
    submit(impl, op_code::children, std::move(path), std::move(handler), to_children);
}

void client::start_watch_children(const impl_ptr& impl,
                                  std::string path,
                                  handler_of<watched_children> handler) {
    auto fill = [](operation& op, watched_children& result) { result.children = to_children(op); };
    auto kind = watch_kind::children;
    submit_watching(
        impl, "watch_children", op_code::children, std::move(path), kind, std::move(handler), fill);
}

void client::start_add_watch(const impl_ptr& impl,
                             std::string path,
                             watch_mode mode,
                             handler_of<persistent_watch> handler) {
    if (!acceptable(impl, "add_watch", path, path_problem(path), handler))
        return;
    auto node = std::make_shared<user_persistent_watch>(impl, path);
    start_operation(
        impl,
        op_code::add_watch,
        std::move(path),
        std::move(handler),
        [node](operation&) mutable { return persistent_watch(std::move(node)); },
        [&node, mode](operation& op) { op.attach(*node, mode); });
}

void client::start_erase(const impl_ptr& impl,
                         std::string path,
                         std::int32_t version,
                         handler_of<> handler) {
    auto fill = [version](operation& op) { op.version = version; };
    submit(impl, op_code::erase, std::move(path), std::move(handler), nothing, fill);
}

void client::start_sync(const impl_ptr& impl, std::string path, handler_of<> handler) {
    submit(impl, op_code::sync, std::move(path), std::move(handler), nothing);
}

void client::start_get_acl(const impl_ptr& impl, std::string path, handler_of<node_acl> handler) {
    submit(impl, op_code::get_acl, std::move(path), std::move(handler), [](operation& op) {
        node_acl result;
        result.acl = std::move(op.entries);
        result.stat = op.record;
        return result;
    });
}

void client::start_set_acl(const impl_ptr& impl,
                           std::string path,
                           acl entries,
                           std::int32_t version,
                           handler_of<> handler) {
    if (impl && !path_problem(path) && entries.empty()) {
        impl->log(log_level::warning, "set_acl: the list is empty; no client could use the node");
        return refuse(impl, std::move(handler), zk_errc::invalid_acl);
    }
    submit(
        impl, op_code::set_acl, std::move(path), std::move(handler), nothing, [&](operation& op) {
            op.entries = std::move(entries);
            op.version = version;
        });
}

void client::start_commit(const impl_ptr& impl,
                          transaction steps,
                          handler_of<std::vector<transaction_result>> handler) {
    if (!impl)
        return refuse(impl, std::move(handler), errc::closed);
    for (const auto& step : steps.steps()) {
        if (!acceptable(impl, "commit", step.path, path_problem(step), handler))
            return;
        if (const char* problem = ttl_problem(step.mode, step.ttl))
            return refuse(
                impl, std::move(handler), impl->reject(errc::bad_option, "commit: ", problem));
    }
    start_operation(
        impl,
        op_code::multi,
        std::string(),
        std::move(handler),
        [](operation& op) { return std::move(op.results); },
        [&](operation& op) { op.steps = std::move(steps).steps(); });
}

void client::start_read_all(const impl_ptr& impl,
                            read_set reads,
                            handler_of<std::vector<read_result>> handler) {
    if (!impl)
        return refuse(impl, std::move(handler), errc::closed);
    for (const auto& read : reads.items()) {
        if (!acceptable(impl, "read_all", read.path, path_problem(read.path), handler))
            return;
    }
    start_operation(
        impl,
        op_code::read_all,
        std::string(),
        std::move(handler),
        [](operation& op) { return std::move(op.read_results); },
        [&](operation& op) { op.reads = std::move(reads).items(); });
}

void client::start_get_ephemerals(const impl_ptr& impl,
                                  std::string path,
                                  handler_of<std::vector<std::string>> handler) {
    auto convert = [](operation& op) { return op.names.to_vector(); };
    submit(impl, op_code::ephemerals, std::move(path), std::move(handler), convert);
}

void client::start_count_descendants(const impl_ptr& impl,
                                     std::string path,
                                     handler_of<std::size_t> handler) {
    auto convert = [](operation& op) { return static_cast<std::size_t>(op.record.num_children); };
    submit(impl, op_code::count_descendants, std::move(path), std::move(handler), convert);
}

void client::start_who_am_i(const impl_ptr& impl, handler_of<std::vector<identity>> handler) {
    if (!impl)
        return refuse(impl, std::move(handler), errc::closed);
    start_operation(impl, op_code::who_am_i, std::string(), std::move(handler), [](operation& op) {
        std::vector<identity> result;
        for (acl_entry& entry : op.entries)
            result.emplace_back(std::move(entry.scheme), std::move(entry.id));
        return result;
    });
}

void client::start_add_auth(const impl_ptr& impl,
                            std::string scheme,
                            std::string credential,
                            handler_of<> handler) {
    if (!impl)
        return refuse(impl, std::move(handler), errc::closed);
    if (scheme.empty())
        return refuse(impl,
                      std::move(handler),
                      impl->reject(errc::bad_option, "add_auth: the scheme must not be empty"));
    auto remember = [&s = impl->core(), auth = auth_info(scheme, credential)](operation& op) {
        if (!op.error)
            s.add_auth(auth);
    };
    start_operation(impl,
                    op_code::add_auth,
                    std::move(scheme),
                    std::move(handler),
                    std::move(remember),
                    [&](operation& op) { op.data = std::move(credential); });
}

void client::start_get_config(const impl_ptr& impl, handler_of<node_data> handler) {
    submit(impl, op_code::get_config, config_path, std::move(handler), to_data);
}

void client::start_watch_config(const impl_ptr& impl, handler_of<watched_data> handler) {
    auto fill = [](operation& op, watched_data& result) { result.node = to_data(op); };
    auto kind = watch_kind::data;
    submit_watching(
        impl, "watch_config", op_code::get_config, config_path, kind, std::move(handler), fill);
}

void client::start_reconfigure(const impl_ptr& impl,
                               std::string joining,
                               std::string leaving,
                               std::string members,
                               std::int64_t version,
                               handler_of<node_data> handler) {
    auto fill = [&](operation& op) {
        op.arguments = {std::move(joining), std::move(leaving), std::move(members)};
        op.config_version = version;
    };
    submit(impl, op_code::reconfigure, config_path, std::move(handler), to_data, fill);
}

}  // namespace corozk
