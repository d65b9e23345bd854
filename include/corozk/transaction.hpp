// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/error.hpp>
#include <corozk/types.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/** @brief The result of one step of a transaction. */
struct transaction_result {
    transaction_result() = default;
    error_code error;   ///< At the step that failed: why the transaction failed.
    std::string path;   ///< Path of a created node, including its sequence number.
    corozk::stat stat;  ///< Stat of a changed node, and of a created one if the server returns it.
};

/**
 * @brief A sequence of steps that are applied atomically (ZooKeeper's `multi`) by `client::commit`.
 */
class COROZK_DECL transaction {
public:
    /// The kind of a step.
    enum class step_kind : std::uint8_t {
        create,  ///< As `transaction::create`.
        erase,   ///< As `transaction::erase`.
        set,     ///< As `transaction::set`.
        check,   ///< As `transaction::check`.
    };

    /// A step of the transaction.
    struct step {
        step() = default;
        step_kind kind = step_kind::check;           ///< What the step does.
        std::string path;                            ///< The node.
        std::string data;                            ///< The data to write.
        std::int32_t version = any_version;          ///< The version that the node must have.
        create_mode mode = create_mode::persistent;  ///< The mode of a created node.
        corozk::acl acl;                             ///< The ACL of a created node; empty: open.
        std::chrono::milliseconds ttl{0};            ///< Of a created node whose mode has one.
    };

    transaction() = default;

    /// Creates a node.
    transaction& create(std::string path,
                        std::string data = std::string(),
                        create_options options = create_options());

    /// Deletes a node without children, if its version matches.
    transaction& erase(std::string path, std::int32_t version = any_version);

    /// Replaces a node's data, if its version matches.
    transaction& set(std::string path, std::string data, std::int32_t version = any_version);

    /// Fails the transaction unless the node exists and its version matches.
    transaction& check(std::string path, std::int32_t version = any_version);

    /// Appends all steps of another transaction.
    transaction& append(const transaction& other);

    std::size_t size() const noexcept { return steps_.size(); }          ///< Number of steps.
    bool empty() const noexcept { return steps_.empty(); }               ///< Whether `size() == 0`.
    const std::vector<step>& steps() const& noexcept { return steps_; }  ///< In order.
    std::vector<step> steps() && noexcept { return std::move(steps_); }  ///< The same.

private:
    step& add(step_kind kind, std::string path, std::int32_t version = any_version);

    std::vector<step> steps_;
};

}  // namespace corozk
