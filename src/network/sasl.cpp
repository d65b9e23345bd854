// SPDX-License-Identifier: Apache-2.0
#include "network/sasl.hpp"

#include "network/read_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <sstream>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

void wipe(std::string& text) noexcept {
    explicit_bzero(text.data(), text.size());
}

/// Reads the first line of the file. @return why it is no password, in words, or empty
std::string password_problem(const std::string& file, std::string& password) {
    std::string why;
    std::string content = read_file(file, why);
    password = content.substr(0, content.find('\n'));
    wipe(content);
    if (password.ends_with('\r'))
        password.pop_back();
    if (!why.empty())
        return "cannot read password_file \"" + file + "\": " + why;
    if (password.empty())
        return "the first line of password_file \"" + file + "\" is empty";
    return {};
}

/// Initializes Cyrus SASL, once per process. Its global state is shared by clients on all threads.
struct cyrus_sasl {
    cyrus_sasl() {
        sasl_set_mutex([]() -> void* { return new (std::nothrow) std::mutex; },
                       [](void* m) {
                           static_cast<std::mutex*>(m)->lock();
                           return SASL_OK;
                       },
                       [](void* m) {
                           static_cast<std::mutex*>(m)->unlock();
                           return SASL_OK;
                       },
                       [](void* m) { delete static_cast<std::mutex*>(m); });
        result = sasl_client_init(nullptr);
        const char** names = result == SASL_OK ? sasl_global_listmech() : nullptr;
        for (; names && *names; ++names)
            mechanisms.emplace_back(*names);
    }

    bool knows(const std::string& mechanism) const {
        return std::find(mechanisms.begin(), mechanisms.end(), mechanism) != mechanisms.end();
    }

    int result;
    std::vector<std::string> mechanisms;
};

const cyrus_sasl& the_cyrus_sasl() {
    // Never destroyed: threads may outlive static objects.
    static const auto& instance = *new cyrus_sasl;
    return instance;
}

template <class Function>
auto as_callback(Function* f) noexcept {
    using callback = int (*)();
    // Cyrus SASL has one function type for all callbacks; compilers accept casts through this one.
    return reinterpret_cast<callback>(reinterpret_cast<void (*)()>(f));
}

}  // namespace

std::string sasl_problem(const sasl_options& options) {
    const cyrus_sasl& library = the_cyrus_sasl();
    if (library.result != SASL_OK) {
        return std::string("sasl: cannot initialize Cyrus SASL: ") +
               sasl_errstring(library.result, nullptr, nullptr);
    }
    std::istringstream words(options.mechanisms);
    std::string word;
    bool any = false;
    bool needs_password = false;
    while (words >> word) {
        // Others would tell a server more than it asks for, such as the password.
        if (word != "DIGEST-MD5" && word != "GSSAPI") {
            return "sasl: ZooKeeper's servers know only the mechanisms DIGEST-MD5 and GSSAPI, not "
                   "\"" +
                   word + "\"";
        }
        any = any || library.knows(word);
        needs_password = needs_password || word == "DIGEST-MD5";
    }
    if (!any) {
        return "sasl: no such mechanism is installed: \"" + options.mechanisms +
               "\" (Debian's packages: for DIGEST-MD5 libsasl2-modules, for GSSAPI "
               "libsasl2-modules-gssapi-mit)";
    }
    if (options.user.empty() != options.password_file.empty() ||
        (needs_password && options.user.empty())) {
        return "sasl: " + options.mechanisms + " needs user and password_file";
    }
    if (options.password_file.empty())
        return {};
    std::string password;
    const std::string problem = password_problem(options.password_file, password);
    wipe(password);
    return problem.empty() ? problem : "sasl: " + problem;
}

sasl_answers::sasl_answers(const sasl_options& options)
    : options_(options),
      callbacks_{{
          {SASL_CB_USER, as_callback(&give_name), this},
          {SASL_CB_AUTHNAME, as_callback(&give_name), this},
          {SASL_CB_GETREALM, as_callback(&give_realm), this},
          {SASL_CB_PASS, as_callback(&give_password), this},
          {SASL_CB_LIST_END, nullptr, nullptr},
      }} {
    the_cyrus_sasl();
}

sasl_answers::~sasl_answers() {
    forget_password();
}

void sasl_answers::free_secret::operator()(sasl_secret_t* s) const noexcept {
    std::free(s);
}

void sasl_answers::forget_password() noexcept {
    if (password_)
        explicit_bzero(password_->data, password_->len);
    password_.reset();
}

int sasl_answers::give_name(void* context, int, const char** result, unsigned* length) {
    const std::string& user = static_cast<sasl_answers*>(context)->options_.user;
    *result = user.c_str();
    if (length)
        *length = static_cast<unsigned>(user.size());
    return SASL_OK;
}

int sasl_answers::give_realm(void* context, int, const char** offered, const char** result) {
    const std::string& realm = static_cast<sasl_answers*>(context)->options_.realm;
    *result = realm.empty() && offered && *offered ? *offered : realm.c_str();
    return SASL_OK;
}

int sasl_answers::give_password(sasl_conn_t*, void* context, int, sasl_secret_t** result) {
    auto& self = *static_cast<sasl_answers*>(context);
    self.forget_password();
    std::string text;
    self.problem_ = password_problem(self.options_.password_file, text);
    if (!self.problem_.empty())
        return SASL_FAIL;
    // Its array member has the length of the text.
    void* memory = std::malloc(sizeof(sasl_secret_t) + text.size());
    if (memory) {
        self.password_.reset(new (memory) sasl_secret_t);
        self.password_->len = text.size();
        std::memcpy(self.password_->data, text.c_str(), text.size() + 1);
    }
    wipe(text);
    *result = self.password_.get();
    return memory ? SASL_OK : SASL_NOMEM;
}

sasl_exchange::sasl_exchange(const sasl_options& options, const std::string& server)
    : answers_(options), host_(options.host.empty() ? server : options.host) {}

/// For one mechanism.
int sasl_exchange::make_connection() {
    sasl_conn_t* made = nullptr;
    const int code = sasl_client_new(answers_.options().service.c_str(),
                                     host_.c_str(),
                                     nullptr,
                                     nullptr,
                                     answers_.callbacks(),
                                     0,
                                     &made);
    connection_.reset(made);
    return code;
}

sasl_exchange::progress sasl_exchange::start() {
    std::istringstream mechanisms(answers_.options().mechanisms);
    progress made = progress::failed;
    for (std::string mechanism; made == progress::failed && mechanisms >> mechanism;) {
        if (const int code = make_connection(); code != SASL_OK) {
            problem_ = sasl_errstring(code, nullptr, nullptr);
            continue;
        }
        if (mechanism == "GSSAPI") {
            // ZooKeeper's servers offer no security layer. Where the client rules out any, the module
            // of Cyrus SASL 2.1.28 leaks credentials (its issue 843).
            sasl_security_properties_t layers{};
            layers.max_ssf = 1;
            sasl_setprop(connection_.get(), SASL_SEC_PROPS, &layers);
        }
        const char* data = nullptr;
        const char* chosen = nullptr;
        unsigned size = 0;
        const int code =
            sasl_client_start(connection_.get(), mechanism.c_str(), nullptr, &data, &size, &chosen);
        complete_ = code == SASL_OK;
        // The first token is sent even if it is empty: it asks for the server's.
        made = result(complete_ ? SASL_CONTINUE : code, data, size);
    }
    return made;
}

sasl_exchange::progress sasl_exchange::step(std::string_view from_server) {
    if (complete_ && from_server.empty())
        return progress::done;
    if (complete_) {
        problem_ =
            "the server continues after the end of the mechanism: it has not authenticated the "
            "client";
        return progress::failed;
    }
    const char* data = nullptr;
    unsigned size = 0;
    int code = sasl_client_step(connection_.get(),
                                from_server.data(),
                                static_cast<unsigned>(from_server.size()),
                                nullptr,
                                &data,
                                &size);
    if (code == SASL_OK && size > 0) {
        complete_ = true;
        code = SASL_CONTINUE;
    }
    progress made = result(code, data, size);
    if (made != progress::failed || !from_server.empty())
        return made;
    problem_ = "the server has probably no SASL configured (" + problem_ + ")";
    return progress::not_offered;
}

sasl_exchange::progress sasl_exchange::result(int code, const char* data, unsigned size) {
    if (code == SASL_OK)
        return progress::done;
    if (code != SASL_CONTINUE) {
        problem_ =
            answers_.problem().empty() ? sasl_errdetail(connection_.get()) : answers_.problem();
        return progress::failed;
    }
    token_.assign(data ? data : "", data ? size : 0);
    return progress::send;
}

sasl_authentication::sasl_authentication(const boost::asio::any_io_executor& executor,
                                         const sasl_options& options,
                                         const std::string& server,
                                         std::function<void()> taken)
    : executor_(executor), taken_(std::move(taken)) {
    take([options, server](state& s) { return s.exchange.emplace(options, server).start(); });
}

void sasl_authentication::step(std::string from_server) {
    take([token = std::move(from_server)](state& s) { return s.exchange->step(token); });
}

void sasl_authentication::take(step_function step) {
    auto work = [s = state_, step = std::move(step)] {
        try {
            s->result = step(*s);
            if (s->result != progress::send && s->result != progress::done)
                s->problem = s->exchange->problem();
        } catch (const std::exception& e) {
            s->result = progress::failed;
            s->problem = e.what();
        }
    };
    step_.emplace(executor_, std::move(work), [this] {
        step_.reset();
        auto taken = taken_;  // it may destroy this object
        taken();
    });
}

}  // namespace corozk::detail
