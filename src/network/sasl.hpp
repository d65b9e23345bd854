// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "network/detached_call.hpp"
#include <corozk/options.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <sasl/sasl.h>
#include <string>
#include <string_view>

namespace corozk::detail {

/// Why these settings cannot work on this machine, or empty. First initializes Cyrus SASL.
std::string sasl_problem(const sasl_options& options);

/// The callbacks that provide Cyrus SASL with user and password, so that it never prompts for them.
class sasl_answers {
public:
    explicit sasl_answers(const sasl_options& options);
    sasl_answers(const sasl_answers&) = delete;
    sasl_answers& operator=(const sasl_answers&) = delete;
    ~sasl_answers();

    /// The callbacks refer to this object.
    const sasl_callback_t* callbacks() const noexcept { return callbacks_.data(); }

    const sasl_options& options() const noexcept { return options_; }

    /// Why there is no password, in words; empty if there is, or was not asked for.
    const std::string& problem() const noexcept { return problem_; }

private:
    static int give_name(void* context, int id, const char** result, unsigned* length);
    static int give_realm(void* context, int id, const char** offered, const char** result);
    static int give_password(sasl_conn_t* connection,
                             void* context,
                             int id,
                             sasl_secret_t** result);

    void forget_password() noexcept;

    struct free_secret {
        void operator()(sasl_secret_t* s) const noexcept;
    };

    sasl_options options_;
    std::unique_ptr<sasl_secret_t, free_secret> password_;
    std::string problem_;
    std::array<sasl_callback_t, 5> callbacks_;
};

/// The client's side of one authentication.
///
/// Does no I/O with the server, but its first three functions may block: Cyrus SASL looks up this
/// machine's name, reads the password, and GSSAPI asks the Kerberos servers.
class sasl_exchange {
public:
    enum class progress : std::uint8_t {
        send,
        done,
        failed,
        not_offered,  ///< the server has no SASL, it seems
    };

    /// @param server the server's name, unless the options have one
    sasl_exchange(const sasl_options& options, const std::string& server);

    /// Begins, with the first mechanism of the options that this side can use: `token` is to be sent.
    progress start();

    /// Goes on with the server's token.
    progress step(std::string_view from_server);

    const std::string& token() const noexcept { return token_; }
    const std::string& problem() const noexcept { return problem_; }

private:
    progress result(int code, const char* data, unsigned size);

    struct dispose {
        void operator()(sasl_conn_t* c) const noexcept { sasl_dispose(&c); }
    };

    int make_connection();

    sasl_answers answers_;
    std::string host_;
    std::unique_ptr<sasl_conn_t, dispose> connection_;
    std::string token_;
    std::string problem_;
    bool complete_ = false;  ///< after the server's next token
};

/// An authentication whose steps are taken on detached threads, one after the other. Destroying it
/// leaves the step that is being taken to its thread, which does not report it any more.
class sasl_authentication {
public:
    using progress = sasl_exchange::progress;

    /// Begins. @param taken called on the executor after each step
    sasl_authentication(const boost::asio::any_io_executor& executor,
                        const sasl_options& options,
                        const std::string& server,
                        std::function<void()> taken);

    /// Goes on with the server's token, after a step that had something to send.
    void step(std::string from_server);

    /// Whether a step is being taken.
    bool busy() const noexcept { return step_.has_value(); }

    // What came of the step that was taken.
    progress result() const noexcept { return state_->result; }
    const std::string& token() const noexcept { return state_->exchange->token(); }
    const std::string& problem() const noexcept { return state_->problem; }

private:
    struct state {
        std::optional<sasl_exchange> exchange;
        progress result = progress::failed;
        std::string problem;
    };
    using step_function = std::function<progress(state&)>;

    void take(step_function step);

    boost::asio::any_io_executor executor_;
    std::function<void()> taken_;
    std::shared_ptr<state> state_ = std::make_shared<state>();  ///< also the thread's
    std::optional<detached_call> step_;
};

}  // namespace corozk::detail
