// SPDX-License-Identifier: Apache-2.0
#include "session/handle.hpp"

#include "session/sigpipe_blocker.hpp"
#if COROZK_HAS_SASL
#include "session/sasl.hpp"
#endif

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <sys/time.h>
#include <utility>

namespace corozk::detail {

namespace {

/// The state in which TLS is agreed upon, which the C client's header does not name.
constexpr int tls_connecting = 7;

/// A broadcast address: connecting to it fails at once and on every machine. It makes the C client
/// run its full clean-up where it would otherwise keep requests of a dead connection.
constexpr const char* nowhere = "255.255.255.255:1";

// The C client's log callback has no context; what it says belongs to the handle that is being
// called on this thread.
thread_local const handle::log_function* current_log = nullptr;

/// Around each call of the C client.
class call_scope {
public:
    call_scope(const handle::log_function& log, bool writes_by_openssl) noexcept
        : previous_(std::exchange(current_log, &log)) {
        if (writes_by_openssl)
            no_signal_.emplace();
    }
    call_scope(const call_scope&) = delete;
    call_scope& operator=(const call_scope&) = delete;
    ~call_scope() { current_log = previous_; }

private:
    const handle::log_function* previous_;
    std::optional<sigpipe_blocker> no_signal_;
};

/// "2026-01-01 00:00:00,000:1(0x7f):ZOO_ERROR@function@123: text": the level is in the line.
void on_log(const char* message) {
    if (!current_log || !*current_log || !message)
        return;
    std::string_view text(message);
    log_level level = log_level::debug;
    if (text.find("ZOO_ERROR@") != text.npos || text.find("ZOO_WARN@") != text.npos) {
        // Losing a connection is an error to the C client; to us it is Tuesday.
        level = log_level::info;
    }
    if (std::size_t at = text.find(":ZOO_"); at != text.npos)
        text.remove_prefix(at + 5);
    while (text.ends_with('\n'))
        text.remove_suffix(1);
    (*current_log)(level, text);
}

stat convert(const Stat& s) noexcept {
    stat r;
    r.czxid = s.czxid;
    r.mzxid = s.mzxid;
    r.pzxid = s.pzxid;
    r.ctime = s.ctime;
    r.mtime = s.mtime;
    r.version = s.version;
    r.cversion = s.cversion;
    r.aversion = s.aversion;
    r.ephemeral_owner = s.ephemeralOwner;
    r.data_length = s.dataLength;
    r.num_children = s.numChildren;
    return r;
}

error_code convert(int rc) noexcept {
    return rc == ZOK ? error_code() : make_error_code(static_cast<zk_errc>(rc));
}

/// What is left of a request when its connection ends: whatever reason the C client gives, the
/// outcome is unknown.
error_code answer_error(int rc) noexcept {
    switch (rc) {
        case ZCLOSING:
        case ZOPERATIONTIMEOUT:
        case ZRUNTIMEINCONSISTENCY:
        case ZMARSHALLINGERROR:
            return make_error_code(zk_errc::connection_loss);
        default:
            return convert(rc);
    }
}

/// The C client's view of an ACL; borrows the strings.
class c_acl {
public:
    explicit c_acl(const acl& entries) {
        list_.reserve(entries.size());
        for (const acl_entry& e : entries) {
            ACL a;
            a.perms = static_cast<std::int32_t>(e.allowed);
            a.id.scheme = const_cast<char*>(e.scheme.c_str());
            a.id.id = const_cast<char*>(e.id.c_str());
            list_.push_back(a);
        }
        vector_.count = static_cast<std::int32_t>(list_.size());
        vector_.data = list_.data();
    }
    c_acl(const c_acl&) = delete;
    c_acl& operator=(const c_acl&) = delete;

    const ACL_vector* get() const noexcept {
        return list_.empty() ? &ZOO_OPEN_ACL_UNSAFE : &vector_;
    }

private:
    std::vector<ACL> list_;
    ACL_vector vector_{};
};

int convert(create_mode mode) noexcept {
    switch (mode) {
        case create_mode::persistent:
            return ZOO_PERSISTENT;
        case create_mode::persistent_sequential:
            return ZOO_PERSISTENT_SEQUENTIAL;
        case create_mode::ephemeral:
            return ZOO_EPHEMERAL;
        case create_mode::ephemeral_sequential:
            return ZOO_EPHEMERAL_SEQUENTIAL;
        case create_mode::container:
            return ZOO_CONTAINER;
        case create_mode::persistent_with_ttl:
            return ZOO_PERSISTENT_WITH_TTL;
        case create_mode::persistent_sequential_with_ttl:
            return ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL;
    }
    return ZOO_PERSISTENT;
}

/// What the C client reads and fills in while a transaction is on its way.
struct multi_storage {
    explicit multi_storage(const std::vector<transaction::step>& steps)
        : ops(steps.size()), results(steps.size()), stats(steps.size()), paths(steps.size()) {
        acls.reserve(steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i)
            add(i, steps[i]);
    }

    void add(std::size_t i, const transaction::step& s) {
        zoo_op_t& op = ops[i];
        std::memset(&op, 0, sizeof op);  // the C client's initialisers leave members unset
        std::memset(&results[i], 0, sizeof results[i]);
        std::memset(&stats[i], 0, sizeof stats[i]);
        auto size = static_cast<int>(s.data.size());
        acls.push_back(std::make_unique<c_acl>(s.entries));
        switch (s.kind) {
            case transaction::step_kind::create: {
                constexpr std::size_t sequence_digits = 12;
                paths[i].assign(s.path.size() + sequence_digits, '\0');
                zoo_create_op_init(&op,
                                   s.path.c_str(),
                                   s.data.data(),
                                   size,
                                   acls.back()->get(),
                                   convert(s.mode),
                                   paths[i].data(),
                                   static_cast<int>(paths[i].size()));
                break;
            }
            case transaction::step_kind::erase:
                zoo_delete_op_init(&op, s.path.c_str(), s.version);
                break;
            case transaction::step_kind::set:
                zoo_set_op_init(&op, s.path.c_str(), s.data.data(), size, s.version, &stats[i]);
                break;
            case transaction::step_kind::check:
                zoo_check_op_init(&op, s.path.c_str(), s.version);
                break;
        }
    }

    std::vector<zoo_op_t> ops;
    std::vector<zoo_op_result_t> results;
    std::vector<Stat> stats;
    std::vector<std::string> paths;
    std::vector<std::unique_ptr<c_acl>> acls;
};

operation& operation_of(const void* data) noexcept {
    return *static_cast<operation*>(const_cast<void*>(data));
}

void arrive(operation& op, int rc) {
    op.error = answer_error(rc);
    op.inbox->emplace_back(op);
}

void on_void(int rc, const void* data) {
    arrive(operation_of(data), rc);
}

void on_string(int rc, const char*, const void* data) {
    arrive(operation_of(data), rc);
}

/// Of an answer that ends early the C client hands over, and frees, what stood on its stack where
/// the rest should have come to stand. Called right before it takes answers apart, this makes it
/// zeroes: harmless, and to be told from what was read. The C client's frames need a few hundred
/// bytes (Debian's build, 3.8.0).
[[gnu::noinline, gnu::no_sanitize_address]] void leave_zeroes_on_the_stack() noexcept {
    char below[2048];
    ::explicit_bzero(below, sizeof below);
}

int checked(int rc, bool was_read) noexcept {
    return rc == ZOK && !was_read ? ZMARSHALLINGERROR : rc;
}

void on_created(int rc, const char* path, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    rc = checked(rc, path && (!s || s->czxid != 0));
    if (rc == ZOK)
        op.answer = path;
    if (rc == ZOK && s)
        op.record = convert(*s);
    arrive(op, rc);
}

void on_stat(int rc, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    // Nodes that the server has from the beginning may have a record of zeroes.
    rc = checked(rc, !s || s->mzxid != 0 || op.code != op_code::set);
    if (rc == ZOK && s)
        op.record = convert(*s);
    arrive(op, rc);
}

void on_data(int rc, const char* value, int size, const Stat* s, const void* data) {
    constexpr int size_of_null = -1;
    operation& op = operation_of(data);
    rc = checked(rc, value || size == size_of_null);
    if (rc == ZOK && value && size > 0)
        op.answer.assign(value, static_cast<std::size_t>(size));
    if (rc == ZOK && s)
        op.record = convert(*s);
    arrive(op, rc);
}

/// Cuts a list down to what could be read of it. Of an answer that ends early the C client hands over
/// all that was announced: the rest is null. It would go through it once more to free it, and so
/// make gigabytes of untouched memory its own.
/// @return whether all was read
template <class List, class Function>
bool cut_to_readable(List& list, Function is_read) noexcept {
    constexpr std::int32_t count_of_null = -1;
    std::int32_t count = 0;
    while (list.data && count < list.count && is_read(list.data[count]))
        ++count;
    if (list.count == count || list.count == count_of_null)
        return true;
    // The one that was begun may have parts to be freed.
    list.count = std::min(count + 1, std::max(list.count, 0));
    return false;
}

void on_children(int rc, const String_vector* names, const Stat* s, const void* data) {
    operation& op = operation_of(data);
    auto* list = const_cast<String_vector*>(names);  // on the C client's stack
    auto is_read = [](const char* name) { return name != nullptr; };
    rc = checked(rc, !list || cut_to_readable(*list, is_read));
    if (rc == ZOK && list) {
        auto count = static_cast<std::size_t>(list->count);
        std::size_t typical = count ? std::strlen(list->data[0]) + 1 : 0;
        op.names.reserve(count, count * typical);
        for (std::size_t i = 0; i < count; ++i)
            op.names.push_back(list->data[i]);
    }
    if (rc == ZOK && s)
        op.record = convert(*s);
    arrive(op, rc);
}

void on_acl(int rc, ACL_vector* list, Stat* s, const void* data) {
    operation& op = operation_of(data);
    auto is_read = [](const ACL& a) { return a.id.scheme && a.id.id; };
    rc = checked(rc, !list || cut_to_readable(*list, is_read));
    op.entries.clear();
    if (rc == ZOK && list) {
        for (std::int32_t i = 0; i < list->count; ++i) {
            const ACL& a = list->data[i];
            op.entries.emplace_back(static_cast<permission>(a.perms), a.id.scheme, a.id.id);
        }
    }
    if (rc == ZOK && s)
        op.record = convert(*s);
    arrive(op, rc);
}

void on_multi(int rc, const void* data) {
    operation& op = operation_of(data);
    multi_storage& m = *static_cast<multi_storage*>(op.foreign.get());
    op.results.resize(m.results.size());
    error_code reason = answer_error(rc);
    for (std::size_t i = 0; i < m.results.size(); ++i) {
        transaction_result& r = op.results[i];
        const transaction::step& s = op.steps[i];
        r.error = convert(m.results[i].err);
        if (reason)
            continue;
        if (s.kind == transaction::step_kind::create)
            r.path = m.paths[i].c_str();
        if (s.kind == transaction::step_kind::set)
            r.stat = convert(m.stats[i]);
    }
    arrive(op, rc);
}

handle_state convert_state(int s) noexcept {
    if (s == ZOO_CONNECTED_STATE)
        return handle_state::connected;
    if (s == ZOO_READONLY_STATE)
        return handle_state::read_only;
    if (s == ZOO_CONNECTING_STATE || s == tls_connecting)
        return handle_state::connecting;
    if (s == ZOO_ASSOCIATING_STATE)
        return handle_state::associating;
    if (s == ZOO_EXPIRED_SESSION_STATE)
        return handle_state::expired;
    if (s == ZOO_AUTH_FAILED_STATE)
        return handle_state::auth_failed;
    return handle_state::disconnected;
}

watch_event_type convert_event(int type) noexcept {
    if (type == ZOO_CREATED_EVENT)
        return watch_event_type::created;
    if (type == ZOO_DELETED_EVENT)
        return watch_event_type::erased;
    if (type == ZOO_CHANGED_EVENT)
        return watch_event_type::data_changed;
    if (type == ZOO_CHILD_EVENT)
        return watch_event_type::children_changed;
    return watch_event_type::unknown;
}

void on_watch(zhandle_t*, int type, int state, const char* path, void* context) {
    auto& inbox = *static_cast<std::vector<arrival>*>(context);
    if (type == ZOO_SESSION_EVENT) {
        inbox.emplace_back(convert_state(state));
    } else {
        inbox.emplace_back(convert_event(type), path ? path : "");
    }
}

}  // namespace

struct handle::impl {
    impl(std::vector<arrival>& inbox_, log_function log_, bool encrypted_)
        : inbox(inbox_), log(std::move(log_)), encrypted(encrypted_) {}

    std::vector<arrival>& inbox;
    log_function log;
    bool encrypted;
    zhandle_t* zh = nullptr;
#if COROZK_HAS_SASL
    std::unique_ptr<sasl_answers> answers;  ///< the C client refers to them
#endif

    void make(const handle_settings& settings) {
        std::string address = settings.server + settings.chroot;
        int timeout = static_cast<int>(settings.session_timeout.count());
        int flags = ZOO_NO_LOG_CLIENTENV | (settings.allow_read_only ? ZOO_READONLY : 0);
#if COROZK_HAS_TLS
        if (settings.tls) {
            const tls_options& tls = *settings.tls;
            std::string files = tls.ca_file + "," + tls.certificate_file + "," + tls.key_file;
            if (!tls.key_password.empty())
                files += "," + tls.key_password;
            zh = zookeeper_init_ssl(
                address.c_str(), files.c_str(), &on_watch, timeout, nullptr, &inbox, flags);
            if (zh)
                zoo_set_log_callback(zh, &on_log);
            return;
        }
#endif
#if COROZK_HAS_SASL
        if (settings.sasl) {
            const sasl_options& sasl = *settings.sasl;
            answers = std::make_unique<sasl_answers>(sasl);
            zoo_sasl_params_t parameters{};
            parameters.service = sasl.service.c_str();
            parameters.host = sasl.host.empty() ? nullptr : sasl.host.c_str();
            parameters.mechlist = sasl.mechanisms.c_str();
            parameters.callbacks = answers->callbacks();
            zh = zookeeper_init_sasl(
                address.c_str(), &on_watch, timeout, nullptr, &inbox, flags, &on_log, &parameters);
            return;
        }
#endif
        zh = zookeeper_init2(address.c_str(), &on_watch, timeout, nullptr, &inbox, flags, &on_log);
    }
};

handle::handle(std::unique_ptr<impl> p) noexcept : impl_(std::move(p)) {}

std::unique_ptr<handle> handle::make(const handle_settings& settings,
                                     std::vector<arrival>& inbox,
                                     log_function log,
                                     error_code& error) {
    auto i = std::make_unique<impl>(inbox, std::move(log), settings.tls != nullptr);
    call_scope scope(i->log, i->encrypted);
    i->make(settings);
    if (!i->zh) {
        error = error_code(errno, boost::system::generic_category());
        return nullptr;
    }
    // Names are resolved by us: the C client's own look-up blocks.
    zoo_set_servers_resolution_delay(i->zh, -1);
    return std::unique_ptr<handle>(new handle(std::move(i)));
}

handle::~handle() {
    call_scope scope(impl_->log, impl_->encrypted);
    // Without its socket the C client closes at once instead of waiting for the server.
    abort();
    zookeeper_close(impl_->zh);
}

void handle::raise_log_level(log_level level) {
    static std::mutex mutex;
    static log_level highest = log_level::off;
    static bool first = true;
    std::lock_guard lock(mutex);
    if (!first && level <= highest)
        return;
    first = false;
    highest = level;
    switch (level) {
        case log_level::debug:
            zoo_set_debug_level(ZOO_LOG_LEVEL_DEBUG);
            break;
        case log_level::info:
            zoo_set_debug_level(ZOO_LOG_LEVEL_WARN);
            break;
        default:
            zoo_set_debug_level(static_cast<ZooLogLevel>(0));
            break;
    }
}

handle_state handle::state() const noexcept {
    return convert_state(zoo_state(impl_->zh));
}

bool handle::connected() const noexcept {
    handle_state s = state();
    return s == handle_state::connected || s == handle_state::read_only;
}

bool handle::open() const noexcept {
    switch (state()) {
        case handle_state::connecting:
        case handle_state::associating:
        case handle_state::connected:
        case handle_state::read_only:
            return true;
        default:
            return false;
    }
}

handle::interest_type handle::interest() {
    call_scope scope(impl_->log, impl_->encrypted);
    int descriptor = -1;
    int events = 0;
    timeval wait{};
    int rc = zookeeper_interest(impl_->zh, &descriptor, &events, &wait);
    interest_type result;
    if (rc == ZOK && open()) {
        result.descriptor = descriptor;
        result.write = (events & ZOOKEEPER_WRITE) != 0;
    }
    return result;
}

handle::progress handle::process(bool read, bool write) {
    call_scope scope(impl_->log, impl_->encrypted);
    // While it connects the C client would begin to read an answer, and lose what it has allocated
    // for that as soon as it is connected.
    if (zoo_state(impl_->zh) == ZOO_CONNECTING_STATE)
        read = false;
    if (!read && !write)
        return progress::nothing;
    int events = (read ? ZOOKEEPER_READ : 0) | (write ? ZOOKEEPER_WRITE : 0);
    leave_zeroes_on_the_stack();
    int rc = zookeeper_process(impl_->zh, events);
    if (rc == ZOK)
        return progress::packet;
    return rc == ZNOTHING ? progress::nothing : progress::failed;
}

void handle::set_server(const std::string& server) {
    // The C client compares addresses without their ports: it would take another port of the same
    // address for the server that it has already. And where sending has failed it has closed the
    // socket, but not cleaned up: connecting again would leak what it has begun to read.
    abort();
    call_scope scope(impl_->log, impl_->encrypted);
    zoo_set_servers(impl_->zh, server.c_str());
}

void handle::abort() {
    const log_function silence;  // what fails here is meant to fail
    call_scope scope(silence, impl_->encrypted);
    handle_state s = state();
    if (s == handle_state::expired || s == handle_state::auth_failed)
        return;
    // Closes the socket without telling anybody; the failing connect then cleans up and answers.
    zoo_set_servers(impl_->zh, nowhere);
    for (int i = 0; i < 3; ++i) {
        int descriptor = -1;
        int events = 0;
        timeval wait{};
        if (zookeeper_interest(impl_->zh, &descriptor, &events, &wait) != ZOK)
            break;
    }
}

void handle::silence() noexcept {
    impl_->log = nullptr;
}

bool handle::submit(operation& op) {
    call_scope scope(impl_->log, impl_->encrypted);
    zhandle_t* zh = impl_->zh;
    const void* data = &op;
    op.inbox = &impl_->inbox;
    watcher_fn watcher = op.watch ? &on_watch : nullptr;
    void* context = &impl_->inbox;
    const char* path = op.path.c_str();
    auto size = static_cast<int>(op.data.size());
    op.answer.clear();
    op.names.clear();
    int rc = ZUNIMPLEMENTED;
    switch (op.code) {
        case op_code::create: {
            c_acl list(op.entries);
            int mode = convert(op.mode);
            std::int64_t ttl = op.ttl.count() > 0 ? op.ttl.count() : -1;
            rc = zoo_acreate2_ttl(
                zh, path, op.data.data(), size, list.get(), mode, ttl, &on_created, data);
            break;
        }
        case op_code::erase:
            rc = zoo_adelete(zh, path, op.version, &on_void, data);
            break;
        case op_code::set:
            rc = zoo_aset(zh, path, op.data.data(), size, op.version, &on_stat, data);
            break;
        case op_code::get:
            rc = zoo_awget(zh, path, watcher, context, &on_data, data);
            break;
        case op_code::exists:
            rc = zoo_awexists(zh, path, watcher, context, &on_stat, data);
            break;
        case op_code::children:
            rc = zoo_awget_children2(zh, path, watcher, context, &on_children, data);
            break;
        case op_code::sync:
            rc = zoo_async(zh, path, &on_string, data);
            break;
        case op_code::get_acl:
            rc = zoo_aget_acl(zh, path, &on_acl, data);
            break;
        case op_code::set_acl: {
            c_acl list(op.entries);
            // The C client takes a non-const list, and only reads it.
            rc = zoo_aset_acl(
                zh, path, op.version, const_cast<ACL_vector*>(list.get()), &on_void, data);
            break;
        }
        case op_code::multi: {
            auto storage = std::make_shared<multi_storage>(op.steps);
            multi_storage& m = *storage;
            op.foreign = std::move(storage);
            rc = zoo_amulti(zh,
                            static_cast<int>(m.ops.size()),
                            m.ops.data(),
                            m.results.data(),
                            &on_multi,
                            data);
            break;
        }
        case op_code::add_auth:
            rc = zoo_add_auth(zh, path, op.data.data(), size, &on_void, data);
            break;
        case op_code::get_config:
            rc = zoo_awgetconfig(zh, watcher, context, &on_data, data);
            break;
        case op_code::reconfigure: {
            auto text = [&](std::size_t i) -> const char* {
                return op.arguments[i].empty() ? nullptr : op.arguments[i].c_str();
            };
            rc = zoo_areconfig(zh, text(0), text(1), text(2), op.config_version, &on_data, data);
            break;
        }
        case op_code::remove_watches: {
            auto type = static_cast<ZooWatcherType>(op.version);
            // The completion parameter is declared as a pointer to a pointer to a function; what is
            // called is the function itself.
            rc = zoo_aremove_all_watches(
                zh,
                path,
                type,
                0,
                reinterpret_cast<void_completion_t*>(reinterpret_cast<void*>(&on_void)),
                data);
            break;
        }
    }
    if (rc != ZOK) {
        op.error = convert(rc);
        return false;
    }
    return true;
}

void handle::forget_watches(const std::string& path) {
    call_scope scope(impl_->log, impl_->encrypted);
    zoo_aremove_all_watches(impl_->zh, path.c_str(), ZWATCHTYPE_ANY, 1, nullptr, nullptr);
}

std::int64_t handle::session_id() const noexcept {
    return zoo_client_id(impl_->zh)->client_id;
}

session_password handle::password() const noexcept {
    session_password result;
    std::memcpy(result.data(), zoo_client_id(impl_->zh)->passwd, result.size());
    return result;
}

std::chrono::milliseconds handle::negotiated_timeout() const noexcept {
    // The C client takes two thirds of it in 32 bits; beyond that it would wait for nothing, and
    // never connect again. A timeout of which a server cannot be in its right mind has passed.
    constexpr int longest = std::numeric_limits<int>::max() / 2;
    int timeout = zoo_recv_timeout(impl_->zh);
    return std::chrono::milliseconds(timeout > longest ? 0 : timeout);
}

std::array<unsigned char, 12> handle::close_packet() noexcept {
    // Length 8, xid 0 (nobody looks at the answer), operation -11 (closeSession).
    return {0, 0, 0, 8, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xf5};
}

}  // namespace corozk::detail
