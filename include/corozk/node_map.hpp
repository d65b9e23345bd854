// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/export.hpp>
#include <corozk/types.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace corozk {

namespace detail {
struct map_node;
class node_map_editor;
}  // namespace detail

/**
 * @brief An immutable, ordered snapshot of a cache: nodes by path or name.
 *
 * Has the functions of a `const std::map<std::string, node_data>`. Maps of successive states share
 * all nodes except those that changed in between, and copies share everything.
 *
 * @par Complexity
 * Copying, `size`, `begin` and `end`: constant. Look-ups: logarithmic. A step of an iterator:
 * constant on average. Destruction: linear in what no other map shares.
 *
 * @executor As a `const std::map`. Maps that share nodes can be read, copied and destroyed in
 * different threads. Iterators and references are valid while the map or a copy of it exists.
 */
class COROZK_DECL node_map {
public:
    using key_type = std::string;                                ///< A path or name.
    using mapped_type = node_data;                               ///< Data and metadata.
    using value_type = std::pair<const std::string, node_data>;  ///< An element.
    using size_type = std::size_t;                               ///< Unsigned.
    using difference_type = std::ptrdiff_t;                      ///< Signed.
    using key_compare = std::less<std::string>;                  ///< By bytes.
    using reference = const value_type&;                         ///< Elements cannot be changed.
    using const_reference = reference;                           ///< Same as `reference`.

    /** @brief A bidirectional iterator. */
    class COROZK_DECL const_iterator {
    public:
        using iterator_category = std::bidirectional_iterator_tag;  ///< Both directions.
        using value_type = node_map::value_type;                    ///< An element.
        using difference_type = std::ptrdiff_t;                     ///< Signed.
        using pointer = const value_type*;                          ///< To an element.
        using reference = const value_type&;                        ///< To an element.

        const_iterator() = default;

        reference operator*() const noexcept { return *element_; }  ///< Must not be at the end.
        pointer operator->() const noexcept { return element_; }    ///< Must not be at the end.

        /// To the next element.
        const_iterator& operator++() noexcept {
            go_to(position_ + 1);
            return *this;
        }
        /// To the next element.
        const_iterator operator++(int) noexcept {
            const_iterator before = *this;
            ++*this;
            return before;
        }
        /// To the previous element.
        const_iterator& operator--() noexcept {
            go_to(position_ - 1);
            return *this;
        }
        /// To the previous element.
        const_iterator operator--(int) noexcept {
            const_iterator before = *this;
            --*this;
            return before;
        }

        /** @brief Whether both are at the same element of the same map. */
        friend bool operator==(const const_iterator& a, const const_iterator& b) noexcept {
            return a.root_ == b.root_ && a.position_ == b.position_;
        }

    private:
        friend class node_map;

        const_iterator(const detail::map_node* root, size_type position) noexcept : root_(root) {
            go_to(position);
        }
        void go_to(size_type position) noexcept;

        const detail::map_node* root_ = nullptr;
        const detail::map_node* leaf_ = nullptr;  ///< what contains the element
        const value_type* element_ = nullptr;     ///< null at the end
        size_type position_ = 0;                  ///< in the map
        size_type first_ = 0;                     ///< the position of the leaf's first element
    };
    using iterator = const_iterator;                                       ///< Constant.
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;  ///< Backwards.
    using reverse_iterator = const_reverse_iterator;                       ///< Constant.

    node_map() noexcept;                                  ///< Empty.
    node_map(const node_map& other) noexcept;             ///< Shares everything.
    node_map(node_map&& other) noexcept;                  ///< Leaves an empty one.
    node_map& operator=(const node_map& other) noexcept;  ///< Shares everything.
    node_map& operator=(node_map&& other) noexcept;       ///< Leaves an empty one.
    ~node_map();

    size_type size() const noexcept;                     ///< Number of elements.
    bool empty() const noexcept { return size() == 0; }  ///< Whether `size() == 0`.

    const_iterator begin() const noexcept;                      ///< First element.
    const_iterator end() const noexcept;                        ///< Past the last element.
    const_iterator cbegin() const noexcept { return begin(); }  ///< Same as `begin`.
    const_iterator cend() const noexcept { return end(); }      ///< Same as `end`.

    /// Last element.
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    /// Before the first element.
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }

    /** @brief The element with this key, or `end()`. */
    const_iterator find(std::string_view key) const noexcept;

    /** @brief The first element whose key is not less. */
    const_iterator lower_bound(std::string_view key) const noexcept;

    /** @brief The first element whose key is greater. */
    const_iterator upper_bound(std::string_view key) const noexcept;

    /** @brief From `lower_bound` to `upper_bound`. */
    std::pair<const_iterator, const_iterator> equal_range(std::string_view key) const noexcept;

    /** @brief Whether there is an element with this key. */
    bool contains(std::string_view key) const noexcept;

    /** @brief 1 or 0. */
    size_type count(std::string_view key) const noexcept { return contains(key) ? 1 : 0; }

    /**
     * @brief The node with this key.
     *
     * @errors Throws `std::out_of_range` if there is none.
     */
    const node_data& at(std::string_view key) const;

private:
    friend class detail::node_map_editor;

    explicit node_map(boost::intrusive_ptr<detail::map_node> root) noexcept;

    boost::intrusive_ptr<detail::map_node> root_;  ///< null: empty
};

}  // namespace corozk
