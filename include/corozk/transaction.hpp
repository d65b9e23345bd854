// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/error.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/** @brief What one operation of a transaction gave. */
struct transaction_result {
    transaction_result() = default;
    error_code error;   ///< why the transaction failed, at the operation that was the reason
    std::string path;   ///< of a created node, with its sequence
    corozk::stat stat;  ///< of a created or changed node (created: only with ZooKeeper's own)
};

/**
 * @brief Operations that are carried out together or not at all (ZooKeeper's `multi`).
 *
 * Filled step by step and given to `client::commit`. The C client offers no TTL nodes inside a
 * transaction.
 */
class COROZK_DECL transaction {
public:  /// @brief What a step does.
    enum class step_kind : std::uint8_t { create, erase, set, check };
    /// One of them.
    struct step {
        step() = default;
        step_kind kind = step_kind::check;           ///< Which of them.
        std::string path;                            ///< Of the node.
        std::string data;                            ///< To be written.
        std::int32_t version = any_version;          ///< That the node must have.
        create_mode mode = create_mode::persistent;  ///< Of a node that is created.
        acl entries;                                 ///< empty: open
    };

    transaction() = default;

    /// Creates a node. A mode with a TTL makes `commit` fail with `errc::bad_option`.
    transaction& create(std::string path,
                        std::string data = std::string(),
                        create_options options = create_options());

    /// Erases a node without children, if its version matches.
    transaction& erase(std::string path, std::int32_t version = any_version);

    /// Replaces a node's data, if its version matches.
    transaction& set(std::string path, std::string data, std::int32_t version = any_version);

    /// Fails the whole unless the node exists and its version matches.
    transaction& check(std::string path, std::int32_t version = any_version);

    /// Appends all steps of another transaction.
    transaction& append(const transaction& other);

    std::size_t size() const noexcept { return steps_.size(); }         ///< How many steps.
    bool empty() const noexcept { return steps_.empty(); }              ///< Whether there is none.
    const std::vector<step>& steps() const& noexcept { return steps_; }  ///< In their order.
    std::vector<step> steps() && noexcept { return std::move(steps_); }  ///< The same.

private:
    std::vector<step> steps_;
};

}  // namespace corozk
