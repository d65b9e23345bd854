// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/options.hpp>

#include <array>
#include <memory>
#include <sasl/sasl.h>
#include <string>

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
    std::array<sasl_callback_t, 5> callbacks_;
};

}  // namespace corozk::detail
