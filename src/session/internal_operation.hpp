// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/session.hpp"

#include <functional>
#include <string>
#include <utility>

namespace corozk::detail {

/// What the session asks for itself. Owned by the session.
class session::internal_operation final : public operation {
public:
    internal_operation(op_code code_, std::string path_, std::function<void(operation&)> f)
        : operation(code_, std::move(path_)), on_finished_(std::move(f)) {}

private:
    void finished() noexcept override { on_finished_(*this); }

    std::function<void(operation&)> on_finished_;
};

}  // namespace corozk::detail
