// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace corozk {

/** @brief The result of one read of a `read_set`. */
struct read_result {
    read_result() = default;
    error_code error;   ///< Such as `zk_errc::no_node`; the other reads are not affected.
    std::string data;   ///< Of `get`.
    corozk::stat stat;  ///< Of `get`.
    std::vector<std::string> names;  ///< Of `children`.
};

/** @brief Reads that see the same state of all nodes (ZooKeeper's `multiRead`), for
 *        `client::read_all`. */
class read_set {
public:
    /// What is read of a node.
    enum class read_kind : std::uint8_t {
        data,      ///< Its data.
        children,  ///< The names of its children.
    };

    /// One read.
    struct item {
        item(read_kind kind_, std::string path_) : kind(kind_), path(std::move(path_)) {}
        read_kind kind;    ///< What is read.
        std::string path;  ///< The node.
    };

    read_set() = default;

    /// Reads a node's data.
    read_set& get(std::string path) {
        items_.emplace_back(read_kind::data, std::move(path));
        return *this;
    }

    /// Reads the names of a node's children.
    read_set& children(std::string path) {
        items_.emplace_back(read_kind::children, std::move(path));
        return *this;
    }

    std::size_t size() const noexcept { return items_.size(); }          ///< Number of reads.
    const std::vector<item>& items() const& noexcept { return items_; }  ///< In order.
    std::vector<item> items() && noexcept { return std::move(items_); }  ///< The same.

private:
    std::vector<item> items_;
};

}  // namespace corozk
