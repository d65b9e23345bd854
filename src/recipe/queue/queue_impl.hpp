// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/request.hpp"
#include "recipe/queue/delay_queue_rule.hpp"
#include "recipe/queue/item_order.hpp"
#include "recipe/queue/rule.hpp"
#include "recipe/toolkit/exactly_once.hpp"
#include "recipe/toolkit/pending_call.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/queue.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace corozk::detail {

class session;

using time_point = std::chrono::steady_clock::time_point;

/// What is behind a queue object: one driver for the consumers' side, and one for the producers'.
class queue_impl final : public std::enable_shared_from_this<queue_impl> {
public:
    struct put_call {
        std::vector<basic_queue::new_item> items;
        std::size_t bytes = 0;
        bool no_wait = false;
        std::unique_ptr<pending_call<>> call;
    };

    enum class wanted : std::uint8_t { take, peek, consume };

    struct consumer {
        wanted what = wanted::take;
        bool no_wait = false;
        std::uint64_t number = 0;  ///< in the order of the calls
        std::unique_ptr<pending_call<queue_item>> item;
        std::unique_ptr<pending_call<queue_claim>> claim;

        bool waiting() const { return item ? item->waiting() : claim->waiting(); }
        void fail(error_code ec) {
            if (item) {
                item->fail(ec);
            } else {
                claim->fail(ec);
            }
        }
    };

    using wall_clock = std::function<std::chrono::system_clock::time_point()>;

    queue_impl(port& p,
               std::string path,
               queue_options options,
               queue_order order,
               wall_clock clock);

    port& owner() noexcept { return port_; }
    signal& consumer_wake() noexcept { return wake_; }
    signal& producer_wake() noexcept { return put_wake_; }
    const std::string& path() const noexcept { return path_; }
    bool stopped() const noexcept { return stopped_; }
    bool path_is_good() const {
        return detail::path_is_good(port_, "queue", path_) &&
               detail::path_is_good(port_, "queue", options_.control_path);
    }

    /// For the claims that are handed out, which keep the session alive.
    void belongs_to(std::weak_ptr<session> s) noexcept { session_ = std::move(s); }

    void enqueue(consumer c);
    void enqueue(put_call p);
    void count(std::unique_ptr<pending_call<std::size_t>> call);

    /// The object is destroyed.
    void stop();

    /// A claim of ours has ended; the item is gone (acknowledged), or back.
    void claim_ended(const std::string& name, bool acknowledged);

private:
    /// An item below which somebody else has a claim, or whatever else keeps us from taking it. Once its
    /// watch fired, it is worth another try.
    class foreign_claim final : public watch_node {
    public:
        explicit foreign_claim(signal& wake) noexcept : wake_(wake) {}
        bool ended = false;

    private:
        void fired(watch_event_type) noexcept override { end(); }
        void dropped(const error_code&) noexcept override { end(); }
        void end() noexcept {
            ended = true;
            wake_.set();
        }
        signal& wake_;
    };

    struct candidate {
        std::size_t place = 0;  ///< in the order
        std::string name;
        queue_key key;
        std::string data;
        std::int32_t version = 0;
        bool ephemeral = false;
        bool read = false;
    };

    /// So that a listing's names can be looked up without copies of them.
    struct name_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const noexcept {
            return std::hash<std::string_view>()(name);
        }
    };
    template <class T>
    using by_name = std::unordered_map<std::string, T, name_hash, std::equal_to<>>;
    using name_set = std::unordered_set<std::string, name_hash, std::equal_to<>>;

    // The consumers' side.
    static task<> run_consumers(std::shared_ptr<queue_impl> self);
    task<> serve();
    task<error_code> serve_some();
    task<error_code> list(watch_signal* watch);
    task<error_code> look_at_folder();
    task<error_code> wait_for_items();
    task<error_code> watch_foreign_claims(std::size_t most);
    task<error_code> serve_takes();
    task<error_code> serve_peek();
    task<error_code> serve_consumers();
    task<error_code> read(std::vector<candidate>& batch);
    task<> give_out(std::vector<candidate> batch, error_code ec);
    task<> put_back(candidate item);
    task<bool> claim_is_ours(std::string path,
                             std::string guid,
                             std::uint64_t generation,
                             stat& record,
                             error_code& ec);
    task<error_code> tell_apart(std::string path,
                                std::string guid,
                                std::uint64_t generation,
                                const stat& item,
                                stat& claim);
    task<> give_claim_back(std::string path,
                           std::string guid,
                           std::uint64_t generation,
                           stat record);

    void look_at_clock();
    bool somebody_is_impatient() const;
    queue_item make_item(std::string name, std::string data, const queue_key& key) const;
    std::size_t run_length(wanted what) const;
    std::string_view name_at(std::size_t place);
    void pass_unavailable();
    void use_up(const std::vector<candidate>& batch);
    std::vector<candidate> next_candidates(std::size_t count);
    void drop_finished();
    void forget_listing() noexcept;
    void folder_seen(std::int64_t czxid);
    bool found_other_folder(error_code ec, const stat& record);
    void drop_foreign_claims();
    bool sure_of_folder() const noexcept { return folder_seen_in_ == port_.status().revision; }
    void doubt_folder_soon();
    void won(time_point begin);
    void lost();
    task<> pause();
    void fail_consumers(error_code ec, bool only_impatient);
    bool is_listed_for(const consumer& c) const;
    consumer* next_taker(wanted what);

    // The producers' side.
    static task<> run_producers(std::shared_ptr<queue_impl> self);
    task<> produce();
    task<error_code> find_room();
    void complete_puts(std::vector<put_call>& batch, error_code ec);
    static task<> take_back(port& p, std::vector<std::string> items);
    void take_late_back(const std::vector<put_call>& batch,
                        std::span<const transaction_result> created);
    transaction::step creation(const basic_queue::new_item& item) const;

    static task<> run_count(std::shared_ptr<queue_impl> self,
                            std::unique_ptr<pending_call<std::size_t>> call);

    port& port_;
    std::weak_ptr<session> session_;
    signal wake_;
    signal put_wake_;
    std::string path_;
    queue_options options_;
    queue_names names_;
    wall_clock clock_;
    bool stopped_ = false;

    ledger takes_;
    std::deque<consumer> consumers_;
    std::size_t sweep_at_ = 0;  ///< when there are so many, see who has ended
    bool consuming_ = false;
    std::int64_t folder_ = 0;           ///< which one was listed: its czxid
    std::uint64_t folder_seen_in_ = 0;  ///< the state's revision when it was there; 0: long ago
    name_list listing_;
    item_order order_;
    std::size_t next_ = 0;
    std::vector<std::size_t> passed_;  ///< places before the next one that somebody else has
    due_look due_;                     ///< as of the last look at the clock
    std::uint64_t calls_ = 0;          ///< so many consumers have asked
    std::uint64_t listed_for_ = 0;     ///< so many of them before the listing was asked for
    bool fresh_ = false;               ///< the listing was asked for after all consumers
    bool watching_empty_ = false;      ///< nothing was there, and a watch would tell of a newcomer
    unsigned losses_ = 0;              ///< how often others were quicker lately
    bool lost_last_ = false;           ///< at the last attempt
    bool step_back_ = false;           ///< before the next one
    std::chrono::nanoseconds round_ = std::chrono::milliseconds(1);  ///< what an attempt takes
    by_name<candidate> ahead_;  ///< read before they were asked for
    name_set own_;              ///< claimed by this object
    name_set gone_;             ///< since the listing was asked for
    by_name<std::unique_ptr<foreign_claim>> foreign_;

    ledger puts_;
    std::deque<put_call> waiting_puts_;
    bool producing_ = false;
    bool bound_known_ = false;
    std::int32_t bound_version_ = 0;
    std::size_t room_ = 0;
};

/// What is behind a claim.
class claim_impl final : public std::enable_shared_from_this<claim_impl> {
public:
    enum class state_type : std::uint8_t { held, ending, lost, done };

    claim_impl(port& p,
               std::shared_ptr<queue_impl> queue,
               queue_item item,
               std::uint64_t generation,
               const stat& record);

    port& owner() noexcept { return port_; }
    signal& wake() noexcept { return wake_; }
    const queue_item& item() const noexcept { return item_; }
    const std::string& path() const noexcept { return claim_path_; }
    std::int64_t token() const noexcept { return token_; }
    bool valid() const noexcept;
    bool given_back() const noexcept { return given_back_; }
    bool stopped() const noexcept { return abandoned_; }

    void acknowledge(transaction extra, std::unique_ptr<pending_call<>> call);
    void release(std::unique_ptr<pending_call<>> call);
    void lost(std::unique_ptr<pending_call<>> call);

    /// The object is destroyed.
    void stop();

private:
    static task<> run_acknowledge(std::shared_ptr<claim_impl> self,
                                  transaction extra,
                                  std::shared_ptr<pending_call<>> call);
    static task<> run_release(std::shared_ptr<claim_impl> self,
                              std::shared_ptr<pending_call<>> call);
    static task<> run_watch(std::shared_ptr<claim_impl> self);

    enum class verdict : std::uint8_t { applied, not_applied, ended, unknown };
    task<verdict> find_out();

    /// Of a look at the claim's node: another one may have its name, and its data.
    bool is_ours(const request& look) const noexcept { return look.record.czxid == token_; }
    void end(state_type state);

    port& port_;
    signal wake_;
    std::shared_ptr<queue_impl> queue_;
    queue_item item_;
    std::string item_path_;
    std::string claim_path_;
    std::uint64_t generation_;
    std::int64_t token_;
    std::int32_t version_;  ///< of the claim's node
    state_type state_ = state_type::held;
    bool watching_ = false;
    bool abandoned_ = false;
    bool acknowledged_ = false;
    bool given_back_ = false;  ///< or about to be
    std::vector<std::unique_ptr<pending_call<>>> lost_calls_;
};

}  // namespace corozk::detail
