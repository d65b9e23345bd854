// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "block/contender.hpp"
#include "block/line_algo.hpp"
#include "block/node_name.hpp"
#include "session/port.hpp"

namespace corozk::detail {

class lines;

/// Where contenders queue, and how.
struct line_settings {
    line_settings() = default;
    std::string directory;
    naming names;
    const line_rule* rule = nullptr;
    acl entries;  ///< of the contenders' nodes and of folders that are missing
};

/// All contenders of this session in one folder, and what is known of the others.
///
/// One listing serves every contender whose create was sent before it, and most need none: only the
/// first one that waits (the head) is ever decided on, a local predecessor needs no watch at the
/// server, and consecutive sequences prove that nobody stands between. See line_algo.hpp.
class line final : private session_observer, private deferred {
public:
    line(lines& owner, port& p, line_settings settings, std::string key);
    ~line();

    std::shared_ptr<contender> enter(contender_request request, user_call<ownership> call);

    port& get_port() noexcept { return port_; }
    const line_settings& settings() const noexcept { return *settings_; }

private:
    friend class contender;

    class contender_operation;
    class listing_operation;
    class foreign_node;
    class walk;

    using contender_ptr = std::shared_ptr<contender>;
    using node_set =
        boost::intrusive::multiset<line_node, boost::intrusive::constant_time_size<false>>;
    using waiting_list =
        boost::intrusive::list<contender, boost::intrusive::constant_time_size<false>>;

    // The life of a contender.
    void create_some();
    void create(const contender_ptr& c);
    bool take_back(contender& c) noexcept;
    void created(const contender_ptr& c, operation& answer);
    task<> create_in_new_folder(contender_ptr c);
    task<> recover(contender_ptr c);
    void place(const contender_ptr& c, std::string_view name, const stat& record);
    void fail(contender& c, error_code reason);
    void grant(contender& c);
    void prove(contender& c);
    void proved(contender& c, operation& answer);
    void release(contender& c);
    void erase(contender& c);
    void erased(contender& c, operation& answer);
    void remove(contender& c);

    // The line.
    void look();
    void listed(operation& answer);
    void merge_listing(const operation& answer);
    void evaluate();
    void refuse_tries();
    head_state examine(contender& c);
    void watch_blockers();
    void confirm_foreign(foreign_node& f);
    void foreign_looked_at(foreign_node& f, operation& answer);
    void erase_foreign(foreign_node& f) noexcept;
    void forget_foreign() noexcept;
    std::int64_t unwrap(std::int32_t sequence) noexcept;
    void wake() noexcept;
    bool ask_again(const error_code& ec, std::uint64_t generation) const noexcept;
    template <class Operation, class... Args>
    Operation& launch(Args&&... args);

    void session_changed(const session_status& status) noexcept override;
    void run() noexcept override;

    lines& lines_;
    port& port_;
    std::shared_ptr<const line_settings> settings_;
    std::string key_;  ///< in `lines_`

    node_set nodes_;        ///< local ones (kept alive by themselves) and foreign ones (owned)
    waiting_list waiting_;   ///< the local ones that wait, in order
    waiting_list creating_;  ///< the local ones that have no place in `nodes_` yet
    contender* next_to_create_ = nullptr;  ///< in `creating_`; those before it were asked for
    std::size_t creates_ = 0;     ///< on their way
    std::size_t members_ = 0;     ///< local ones that are not gone
    std::size_t tries_ = 0;       ///< waiting ones that would rather not
    std::size_t operations_ = 0;  ///< on their way; the line must outlive them
    std::int64_t covered_ = 0;    ///< up to this order `nodes_` contains all that exists
    bool anything_covered_ = false;
    bool stale_ = true;
    bool listing_ = false;       ///< on its way
    std::uint64_t listings_ = 0;
    bool evaluating_listing_ = false;
    bool session_over_ = false;  ///< noticed, to be worked off
    bool reconnected_ = false;   ///< noticed, to be worked off
    std::int32_t base_ = 0;      ///< of unwrapped sequences
    bool has_base_ = false;
    std::vector<const line_entry*> blockers_;
};

/// The lines of a session, by folder and naming.
class lines final : public service {
public:
    explicit lines(port& p) noexcept : port_(p) {}
    ~lines() override;

    line& get(const line_settings& settings);
    void discard(const std::string& key) noexcept { lines_.erase(key); }

private:
    port& port_;
    std::unordered_map<std::string, std::unique_ptr<line>> lines_;
};

}  // namespace corozk::detail
