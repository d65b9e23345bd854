// SPDX-License-Identifier: Apache-2.0
#include "client/user_operation.hpp"
#include "client/user_watch.hpp"
#include "driver/cancellable.hpp"
#include "driver/ensure_path.hpp"
#include "driver/erase_tree.hpp"
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

using session_ptr = std::shared_ptr<session>;

template <class... Values>
void fail(const session_ptr& s, any_handler<void(error_code, Values...)> handler, error_code ec) {
    auto executor = s ? s->executor() : fallback_executor(handler);
    immediate_result<Values...>(executor, std::move(handler), ec, Values()...);
}

/// Refuses what cannot be sent, with a line in the log that says what is wrong with it.
/// @param path_fault  what `path_problem` says
/// @return whether the operation may go on; otherwise the handler has been completed.
template <class... Values>
bool acceptable(const session_ptr& s,
                const char* operation,
                const std::string& path,
                const char* path_fault,
                any_handler<void(error_code, Values...)>& handler) {
    error_code problem;
    if (!s) {
        problem = errc::closed;
    } else if (path_fault) {
        problem = errc::bad_path;
        if (s->logs(log_level::warning)) {
            s->log(log_level::warning,
                   std::string(operation) + ": path \"" + path + "\" " + path_fault);
        }
    }
    if (problem)
        fail<Values...>(s, std::move(handler), problem);
    return !problem;
}

template <class... Values>
bool acceptable(const session_ptr& s,
                const char* operation,
                const std::string& path,
                any_handler<void(error_code, Values...)>& handler,
                bool sequential = false) {
    return acceptable(s, operation, path, path_problem(path, sequential), handler);
}

/// Starts an operation whose answer `convert` makes of the finished one.
template <class... Values, class Fill, class Convert>
void start_operation(const session_ptr& s,
                     op_code code,
                     std::string path,
                     any_handler<void(error_code, Values...)> handler,
                     Fill fill,
                     Convert convert) {
    auto* op = new user_operation<Convert, Values...>(
        s, code, std::move(path), std::move(handler), std::move(convert));
    fill(*op);
    op->launch();
}

constexpr auto nothing_more = [](operation&) {};

/// Starts a reading operation that leaves a watch.
template <class Result, class Convert>
void start_watching(const session_ptr& s,
                    op_code code,
                    std::string path,
                    watch_kind kind,
                    any_handler<void(error_code, Result)> handler,
                    Convert convert) {
    auto node = std::make_shared<user_watch>(s, path);
    node->set_kind(kind);
    start_operation<Result>(
        s,
        code,
        std::move(path),
        std::move(handler),
        [&node](operation& op) { op.attach(*node); },
        [node, convert = std::move(convert)](operation& op) mutable {
            Result result;
            convert(op, result);
            result.changed = watch(std::move(node));
            return result;
        });
}

bool has_ttl(create_mode mode) noexcept {
    return mode == create_mode::persistent_with_ttl ||
           mode == create_mode::persistent_sequential_with_ttl;
}

/// A client on its way to its first session, for `client::connect` without an object.
struct connecting {
    connecting(session_ptr s, any_handler<void(error_code, client)> handler)
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
                          std::shared_ptr<user_call<>> call) {
    error_code ec = co_await ensure_folder(p, std::move(path), std::move(entries), mode);
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

session_status client::status() const {
    if (impl_)
        return impl_->look();
    session_status none;
    none.state = session_state::closed;
    none.reason = errc::closed;
    return none;
}

client_counters client::counters() const {
    return impl_ ? impl_->snapshot() : client_counters();
}

std::string client::hosts() const {
    return impl_ ? impl_->options().hosts : std::string();
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
    // Posted: with a future, the initiating thread is not one of the executor's.
    boost::asio::post(executor, [c] {
        if (!c->call.waiting())
            return;
        c->begun = true;
        auto connected = [c](error_code ec) {
            c->call.complete(ec, ec ? client() : client(c->made));
        };
        c->made->connect(user_call<>(
            *c->made, boost::asio::bind_cancellation_slot(c->stop.slot(), std::move(connected))));
    });
}

void client::start_connect(const impl_ptr& impl, handler_of<> handler) {
    if (!impl)
        return fail<>(impl, std::move(handler), errc::closed);
    impl->connect(user_call<>(*impl, std::move(handler)));
}

void client::start_close(const impl_ptr& impl, handler_of<> handler) {
    if (!impl)
        return fail<>(impl, std::move(handler), error_code());
    impl->close(user_call<>(*impl, std::move(handler)));
}

void client::start_next_state(const impl_ptr& impl,
                              session_status seen,
                              handler_of<session_status> handler) {
    if (!impl)
        return fail<session_status>(impl, std::move(handler), errc::closed);
    impl->next_state(seen, user_call<session_status>(*impl, std::move(handler)));
}

void client::start_create(const impl_ptr& impl,
                          std::string path,
                          std::string data,
                          create_options options,
                          acl entries,
                          handler_of<created_node> handler) {
    if (!acceptable<created_node>(impl, "create", path, handler, is_sequential(options.mode))) {
        return;
    }
    if (has_ttl(options.mode) != (options.ttl.count() > 0)) {
        impl->log(log_level::warning, "create: a TTL and a mode with a TTL go together");
        return fail<created_node>(impl, std::move(handler), errc::bad_option);
    }
    start_operation<created_node>(
        impl,
        op_code::create,
        std::move(path),
        std::move(handler),
        [&](operation& op) {
            op.data = std::move(data);
            op.mode = options.mode;
            op.ttl = options.ttl;
            op.entries = std::move(entries);
        },
        [](operation& op) {
            created_node result;
            result.path = std::move(op.answer);
            result.stat = op.record;
            return result;
        });
}

void client::start_ensure_path(const impl_ptr& impl,
                               std::string path,
                               create_options options,
                               acl entries,
                               handler_of<> handler) {
    if (!acceptable<>(impl, "ensure_path", path, handler))
        return;
    auto call = cancellable(user_call<>(*impl, std::move(handler)), any_cancellation);
    impl->spawn(ensure_path_driver(
        *impl, std::move(path), std::move(entries), options.mode, std::move(call)));
}

void client::start_erase_tree(const impl_ptr& impl, std::string path, handler_of<> handler) {
    if (!acceptable<>(impl, "erase_tree", path, handler))
        return;
    auto call = cancellable(user_call<>(*impl, std::move(handler)), any_cancellation);
    impl->spawn(detail::erase_tree(*impl, std::move(path), std::move(call)));
}

void client::start_get(const impl_ptr& impl, std::string path, handler_of<node_data> handler) {
    if (!acceptable<node_data>(impl, "get", path, handler))
        return;
    start_operation<node_data>(
        impl, op_code::get, std::move(path), std::move(handler), nothing_more, [](operation& op) {
            node_data result;
            result.data = std::move(op.answer);
            result.stat = op.record;
            return result;
        });
}

void client::start_watch_data(const impl_ptr& impl,
                              std::string path,
                              handler_of<watched_data> handler) {
    if (!acceptable<watched_data>(impl, "watch_data", path, handler))
        return;
    start_watching<watched_data>(impl,
                                 op_code::get,
                                 std::move(path),
                                 watch_kind::data,
                                 std::move(handler),
                                 [](operation& op, watched_data& result) {
                                     result.node.data = std::move(op.answer);
                                     result.node.stat = op.record;
                                 });
}

void client::start_set(const impl_ptr& impl,
                       std::string path,
                       std::string data,
                       std::int32_t version,
                       handler_of<stat> handler) {
    if (!acceptable<stat>(impl, "set", path, handler))
        return;
    start_operation<stat>(
        impl,
        op_code::set,
        std::move(path),
        std::move(handler),
        [&](operation& op) {
            op.data = std::move(data);
            op.version = version;
        },
        [](operation& op) { return op.record; });
}

void client::start_exists(const impl_ptr& impl,
                          std::string path,
                          handler_of<std::optional<stat>> handler) {
    if (!acceptable<std::optional<stat>>(impl, "exists", path, handler))
        return;
    start_operation<std::optional<stat>>(impl,
                                         op_code::exists,
                                         std::move(path),
                                         std::move(handler),
                                         nothing_more,
                                         [](operation& op) {
                                             if (op.error == zk_errc::no_node) {
                                                 op.error = error_code();
                                                 return std::optional<stat>();
                                             }
                                             return op.error ? std::optional<stat>()
                                                             : std::optional<stat>(op.record);
                                         });
}

void client::start_watch_exists(const impl_ptr& impl,
                                std::string path,
                                handler_of<watched_stat> handler) {
    if (!acceptable<watched_stat>(impl, "watch_exists", path, handler))
        return;
    start_watching<watched_stat>(impl,
                                 op_code::exists,
                                 std::move(path),
                                 watch_kind::exists,
                                 std::move(handler),
                                 [](operation& op, watched_stat& result) {
                                     if (op.error == zk_errc::no_node) {
                                         op.error = error_code();
                                     } else if (!op.error) {
                                         result.stat = op.record;
                                     }
                                 });
}

void client::start_children(const impl_ptr& impl,
                            std::string path,
                            handler_of<node_children> handler) {
    if (!acceptable<node_children>(impl, "children", path, handler))
        return;
    start_operation<node_children>(impl,
                                   op_code::children,
                                   std::move(path),
                                   std::move(handler),
                                   nothing_more,
                                   [](operation& op) {
                                       node_children result;
                                       result.names = op.names.to_vector();
                                       result.stat = op.record;
                                       return result;
                                   });
}

void client::start_watch_children(const impl_ptr& impl,
                                  std::string path,
                                  handler_of<watched_children> handler) {
    if (!acceptable<watched_children>(impl, "watch_children", path, handler))
        return;
    start_watching<watched_children>(impl,
                                     op_code::children,
                                     std::move(path),
                                     watch_kind::children,
                                     std::move(handler),
                                     [](operation& op, watched_children& result) {
                                         result.children.names = op.names.to_vector();
                                         result.children.stat = op.record;
                                     });
}

void client::start_erase(const impl_ptr& impl,
                         std::string path,
                         std::int32_t version,
                         handler_of<> handler) {
    if (!acceptable<>(impl, "erase", path, handler))
        return;
    start_operation<>(
        impl,
        op_code::erase,
        std::move(path),
        std::move(handler),
        [&](operation& op) { op.version = version; },
        nothing_more);
}

void client::start_sync(const impl_ptr& impl, std::string path, handler_of<> handler) {
    if (!acceptable<>(impl, "sync", path, handler))
        return;
    start_operation<>(
        impl, op_code::sync, std::move(path), std::move(handler), nothing_more, nothing_more);
}

void client::start_get_acl(const impl_ptr& impl, std::string path, handler_of<node_acl> handler) {
    if (!acceptable<node_acl>(impl, "get_acl", path, handler))
        return;
    start_operation<node_acl>(impl,
                              op_code::get_acl,
                              std::move(path),
                              std::move(handler),
                              nothing_more,
                              [](operation& op) {
                                  node_acl result;
                                  result.entries = std::move(op.entries);
                                  result.stat = op.record;
                                  return result;
                              });
}

void client::start_set_acl(const impl_ptr& impl,
                           std::string path,
                           acl entries,
                           std::int32_t version,
                           handler_of<> handler) {
    if (!acceptable<>(impl, "set_acl", path, handler))
        return;
    if (entries.empty()) {
        impl->log(log_level::warning, "set_acl: the list is empty; nobody could use the node");
        return fail<>(impl, std::move(handler), zk_errc::invalid_acl);
    }
    start_operation<>(
        impl,
        op_code::set_acl,
        std::move(path),
        std::move(handler),
        [&](operation& op) {
            op.entries = std::move(entries);
            op.version = version;
        },
        nothing_more);
}

void client::start_commit(const impl_ptr& impl,
                          transaction steps,
                          handler_of<std::vector<transaction_result>> handler) {
    using results = std::vector<transaction_result>;
    if (!impl)
        return fail<results>(impl, std::move(handler), errc::closed);
    for (const auto& step : steps.steps()) {
        if (!acceptable(impl, "commit", step.path, path_problem(step), handler))
            return;
        if (has_ttl(step.mode)) {
            impl->log(log_level::warning, "commit: no TTL nodes inside a transaction");
            return fail<results>(impl, std::move(handler), errc::bad_option);
        }
    }
    start_operation<results>(
        impl,
        op_code::multi,
        std::string(),
        std::move(handler),
        [&](operation& op) { op.steps = steps.steps(); },
        [](operation& op) { return std::move(op.results); });
}

void client::start_add_auth(const impl_ptr& impl,
                            std::string scheme,
                            std::string credential,
                            handler_of<> handler) {
    if (!impl)
        return fail<>(impl, std::move(handler), errc::closed);
    if (scheme.empty())
        return fail<>(impl, std::move(handler), errc::bad_option);
    auth_info auth(scheme, credential);
    start_operation<>(
        impl,
        op_code::add_auth,
        std::move(scheme),
        std::move(handler),
        [&](operation& op) { op.data = std::move(credential); },
        [s = impl.get(), auth](operation& op) {
            if (!op.error)
                s->add_auth(auth);
        });
}

namespace {
constexpr const char* config_path = "/zookeeper/config";
}

void client::start_config(const impl_ptr& impl, handler_of<node_data> handler) {
    if (!impl)
        return fail<node_data>(impl, std::move(handler), errc::closed);
    start_operation<node_data>(impl,
                               op_code::get_config,
                               config_path,
                               std::move(handler),
                               nothing_more,
                               [](operation& op) {
                                   node_data result;
                                   result.data = std::move(op.answer);
                                   result.stat = op.record;
                                   return result;
                               });
}

void client::start_watch_config(const impl_ptr& impl, handler_of<watched_data> handler) {
    if (!impl)
        return fail<watched_data>(impl, std::move(handler), errc::closed);
    start_watching<watched_data>(impl,
                                 op_code::get_config,
                                 config_path,
                                 watch_kind::data,
                                 std::move(handler),
                                 [](operation& op, watched_data& result) {
                                     result.node.data = std::move(op.answer);
                                     result.node.stat = op.record;
                                 });
}

void client::start_reconfigure(const impl_ptr& impl,
                               std::string joining,
                               std::string leaving,
                               std::string members,
                               std::int64_t version,
                               handler_of<node_data> handler) {
    if (!impl)
        return fail<node_data>(impl, std::move(handler), errc::closed);
    start_operation<node_data>(
        impl,
        op_code::reconfigure,
        config_path,
        std::move(handler),
        [&](operation& op) {
            op.arguments = {std::move(joining), std::move(leaving), std::move(members)};
            op.config_version = version;
        },
        [](operation& op) {
            node_data result;
            result.data = std::move(op.answer);
            result.stat = op.record;
            return result;
        });
}

}  // namespace corozk
