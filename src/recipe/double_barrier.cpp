// SPDX-License-Identifier: Apache-2.0
#include "corozk/recipe/double_barrier.hpp"

#include "block/parents.hpp"
#include "block/recipe_core.hpp"
#include "recipe/double_barrier_algo.hpp"
#include "session/path.hpp"
#include "session/request.hpp"
#include "session/session.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <set>

namespace corozk {

namespace detail {

namespace {

/// One member's stay, from `enter` to the end of its node.
struct barrier_seat {
    enum class phase_type : std::uint8_t {
        entering,
        inside,
        leaving,
        withdrawing,  ///< nobody waits any more; its node is to go
        outside,
    };

    explicit barrier_seat(signal& wake) : own_watch(wake) {}

    phase_type phase = phase_type::entering;
    std::unique_ptr<waiting_call<>> call;
    error_code verdict;      ///< with which to end the call when the node is gone
    std::string guid;        ///< of the attempt; empty: none yet
    std::string first_guid;  ///< whose first half tells the participant
    std::string node;        ///< its path; empty: none
    std::int32_t sequence = 0;
    std::uint64_t generation = 0;  ///< the session that owns the node
    bool unsure = false;           ///< a create without an answer
    bool erase_now = false;        ///< leaving, and its turn to go
    bool refuse_to_wait = false;
    bool listed = false;  ///< the room works for it
    std::uint64_t round = 0;
    std::int32_t last = 0;  ///< of that round
    acl entries;
    watch_signal own_watch;
    std::uint64_t own_watch_revision = 0;  ///< of the session's state when it was set

    void forget_node() {
        own_watch.disarm();
        guid.clear();
        node.clear();
        unsure = false;
        erase_now = false;
    }

    void finish(error_code ec) {
        own_watch.disarm();
        if (call)
            call->fail(ec);
    }
};

using seat_ptr = std::shared_ptr<barrier_seat>;
using phase = barrier_seat::phase_type;

/// All members of one client at one barrier, that want something: one driver for all of them.
class barrier_room final : public std::enable_shared_from_this<barrier_room> {
public:
    barrier_room(port& p, std::string folder, std::uint32_t size)
        : port_(p),
          folder_(std::move(folder)),
          size_(size),
          wake_(p),
          record_watch_(wake_),
          target_watch_(wake_) {}

    signal& wake() noexcept { return wake_; }

    void add(seat_ptr seat) {
        if (!std::exchange(seat->listed, true))
            seats_.push_back(std::move(seat));
        wake_.set();
        if (!running_) {
            running_ = true;
            port_.spawn(run(shared_from_this()));
        }
    }

private:
    struct job {
        enum class kind_type : std::uint8_t { create, erase, checked_erase };
        job(kind_type kind_, seat_ptr seat_, port& p, op_code code, std::string path)
            : kind(kind_), seat(std::move(seat_)), ask(p, code, std::move(path)) {}
        kind_type kind;
        seat_ptr seat;
        request ask;
    };
    using kind = job::kind_type;

    static task<> run(std::shared_ptr<barrier_room> self) {
        port& p = self->port_;
        session_signal session(p, self->wake_);
        while (!self->seats_.empty()) {
            if (p.status().state == session_state::closed) {
                for (const seat_ptr& s : self->seats_)
                    s->finish(errc::closed);
                self->seats_.clear();
                break;
            }
            self->note_session();
            self->note_calls();
            if (self->seats_.empty())
                break;
            bool again = false;
            if (p.alive(p.status().generation)) {
                again = co_await self->step();
            }
            if (!again && !self->seats_.empty()) {
                co_await self->wake_.wait();
            }
        }
        self->forget_target();
        forget_watch(p, self->record_watch_, watch_kind::data, self->folder_);
        self->running_ = false;
    }

    /// What belonged to an earlier session is gone with it.
    void note_session() {
        for (const seat_ptr& s : seats_) {
            if (s->guid.empty() || port_.alive(s->generation))
                continue;
            bool had_node = !s->node.empty();
            s->forget_node();
            if (s->phase == phase::leaving && had_node)
                end(*s, zk_errc::session_expired);
        }
        if (record_generation_ != port_.status().generation) {
            record_generation_ = port_.status().generation;
            version_.reset();
        }
        drop_finished();
    }

    /// Calls that are over: their nodes have to go.
    void note_calls() {
        for (const seat_ptr& s : seats_) {
            if (s->phase == phase::entering && !s->call->waiting())
                s->phase = phase::withdrawing;
            if (s->phase == phase::leaving && s->call->over())
                withdraw(*s, {});
            bool nothing_there = s->node.empty() && !s->unsure;
            bool over =
                s->phase == phase::withdrawing || (s->phase == phase::entering && s->call->late());
            if (over && nothing_there)
                end(*s, s->verdict ? s->verdict : late_error());
        }
        drop_finished();
    }

    static error_code late_error() { return errc::deadline_exceeded; }

    void withdraw(barrier_seat& s, error_code verdict) {
        s.phase = phase::withdrawing;
        s.verdict = verdict;
    }

    void end(barrier_seat& s, error_code ec) {
        s.phase = phase::outside;
        s.finish(ec);
    }

    void drop_finished() {
        std::erase_if(seats_, [](const seat_ptr& s) {
            s->listed = s->phase != phase::outside && s->phase != phase::inside;
            return !s->listed;
        });
    }

    bool any(phase wanted) const {
        return std::any_of(seats_.begin(), seats_.end(), [wanted](const seat_ptr& s) {
            return s->phase == wanted;
        });
    }

    /// One pass: do what is due, look at the server, decide.
    /// @return whether there is more to do at once; otherwise something wakes us.
    task<bool> step() {
        const std::uint64_t generation = port_.status().generation;
        std::deque<job> jobs;
        bool list = std::exchange(list_next_, false) || any(phase::leaving);
        bool unsure = false;
        for (const seat_ptr& s : seats_) {
            if (s->unsure) {
                unsure = true;
            } else if (s->phase == phase::entering && s->node.empty()) {
                if (s->refuse_to_wait)
                    list = true;
                add_create(jobs, s, generation);
            } else if (s->phase == phase::entering && s->call->late() && version_) {
                add_checked_erase(jobs, s);
            } else if (s->phase == phase::withdrawing ||
                       (s->phase == phase::leaving && s->erase_now)) {
                jobs.emplace_back(kind::erase, s, port_, op_code::erase, s->node);
                jobs.back().ask.generation = s->generation;
            }
        }
        for (job& j : jobs)
            j.ask.send();
        // A server that lags behind must not make us believe that a create was lost.
        request sync(port_, op_code::sync, folder_);
        sync.generation = generation;
        if (unsure)
            sync.send();
        request look(port_, op_code::get, folder_);
        look.generation = generation;
        const bool watched = any(phase::entering);
        if (watched) {
            record_watch_.disarm();
            look.attach(record_watch_);
        } else {
            forget_watch(port_, record_watch_, watch_kind::data, folder_);
        }
        look.send();
        request listing(port_, op_code::children, folder_);
        listing.generation = generation;
        if (unsure || list)
            listing.send();

        bool again = false;
        bool folder_missing = false;
        for (job& j : jobs) {
            co_await j.ask;
            note_answer(j, folder_missing, again);
        }
        error_code synced;
        if (unsure)
            synced = co_await sync;
        error_code ec = co_await look;
        if (ec && ec != zk_errc::no_node && watched)
            forget_watch(port_, record_watch_, watch_kind::data, folder_);
        if (!ec)
            ec = synced;
        if (unsure || list) {
            if (error_code e = co_await listing; e && !ec)
                ec = e;
        }
        drop_finished();
        if (ec == zk_errc::no_node) {
            note_missing_folder();
            folder_missing = folder_missing || any(phase::entering);
        }
        if (folder_missing) {
            acl entries = seats_.empty() ? acl() : seats_.front()->entries;
            error_code made = co_await ensure_folder(port_, folder_, std::move(entries));
            if (made && !worth_asking_again(port_, made))
                fail_all(made);
            drop_finished();
            co_return true;
        }
        if (ec == zk_errc::no_node)
            co_return again;
        if (ec) {
            if (!worth_asking_again(port_, ec))
                fail_all(ec);
            if (list)
                list_next_ = true;
            drop_finished();
            co_return true;
        }
        std::optional<round_record> record = parse_round(look.answer);
        if (!record) {
            for (const seat_ptr& s : seats_)
                withdraw(*s, errc::foreign_data);
            co_return true;
        }
        record_ = *record;
        version_ = look.record.version;
        if (unsure)
            again = find_unsure(listing.names) || again;

        std::optional<barrier_view> view;
        if (unsure || list)
            view = view_barrier(listing.names, record_);
        else if (look.record.num_children == 0)
            view.emplace();  // a listing, which came after it, knows better
        again = decide_inside(view) || again;
        target_.clear();
        if (any(phase::leaving))
            again = decide_leaving(view) || again;
        if (any(phase::entering)) {
            bool more = co_await decide_waiting(view, look.record.num_children);
            again = again || more;
        }
        if (!again)
            again = co_await watch_target(generation);
        drop_finished();
        co_return again;
    }

    void add_create(std::deque<job>& jobs, const seat_ptr& s, std::uint64_t generation) {
        std::string random = port_.new_guid();
        if (s->first_guid.empty())
            s->first_guid = random;
        s->guid = member_guid(s->first_guid, random);
        s->generation = generation;
        jobs.emplace_back(
            kind::create, s, port_, op_code::create, join_path(folder_, member_prefix(s->guid)));
        request& ask = jobs.back().ask;
        ask.mode = create_mode::ephemeral_sequential;
        ask.entries = s->entries;
        ask.generation = generation;
    }

    /// Only if no round has begun since we looked.
    void add_checked_erase(std::deque<job>& jobs, const seat_ptr& s) {
        jobs.emplace_back(kind::checked_erase, s, port_, op_code::multi, folder_);
        transaction steps;
        steps.check(folder_, *version_).erase(s->node);
        jobs.back().ask.steps = steps.steps();
        jobs.back().ask.generation = s->generation;
    }

    void note_answer(job& j, bool& folder_missing, bool& again) {
        barrier_seat& s = *j.seat;
        const error_code& ec = j.ask.error;
        if (j.kind == kind::create) {
            if (!ec) {
                std::optional<std::int32_t> sequence = parse_member(base_name(j.ask.answer));
                s.node = j.ask.answer;
                s.sequence = sequence.value_or(0);
                if (!sequence)
                    withdraw(s, errc::foreign_data);
            } else if (is_outcome_unknown(ec)) {
                s.unsure = true;
                again = true;
            } else {
                s.forget_node();
                again = true;
                if (ec == zk_errc::no_node) {
                    folder_missing = true;
                } else if (!worth_asking_again(port_, ec)) {
                    end(s, ec);
                }
            }
            return;
        }
        if (!ec || ec == zk_errc::no_node) {
            s.forget_node();
            if (s.phase == phase::withdrawing) {
                end(s, s.verdict ? s.verdict : late_error());
            } else if (s.phase == phase::entering) {
                end(s, late_error());
            }
            return;
        }
        again = true;
        if (ec == zk_errc::bad_version || worth_asking_again(port_, ec))
            return;
        if (port_.logs(log_level::warning)) {
            port_.log(log_level::warning,
                      "double barrier: could not erase " + s.node + ": " + ec.message());
        }
        end(s, ec);
    }

    /// Without the folder there are no nodes.
    void note_missing_folder() {
        version_.reset();
        for (const seat_ptr& s : seats_) {
            s->forget_node();
            if (s->phase == phase::leaving)
                end(*s, error_code());
        }
        drop_finished();
    }

    void fail_all(error_code ec) {
        for (const seat_ptr& s : seats_) {
            if (s->node.empty() && !s->unsure) {
                end(*s, ec);
            } else if (s->phase == phase::withdrawing) {
                end(*s, s->verdict ? s->verdict : ec);
            } else {
                withdraw(*s, ec);
            }
        }
    }

    /// Creates whose answer was lost: the guid tells.
    bool find_unsure(const name_list& names) {
        bool any_unsure = false;
        for (const seat_ptr& s : seats_) {
            if (!s->unsure)
                continue;
            any_unsure = true;
            s->unsure = false;
            std::string prefix = member_prefix(s->guid);
            bool found = false;
            for (std::size_t i = 0; i < names.size() && !found; ++i) {
                if (!names[i].starts_with(prefix))
                    continue;
                std::optional<std::int32_t> sequence = parse_member(names[i]);
                if (!sequence)
                    continue;
                s->node = join_path(folder_, names[i]);
                s->sequence = *sequence;
                found = true;
            }
            if (!found)
                s->forget_node();
        }
        return any_unsure;
    }

    bool watched(const barrier_seat& s) const {
        return s.own_watch.armed() && s.own_watch_revision == port_.status().revision;
    }

    /// Who is in? A node that is not there any more was not counted, or is counted as gone.
    bool decide_inside(const std::optional<barrier_view>& view) {
        bool again = false;
        for (const seat_ptr& s : seats_) {
            if (s->node.empty() || s->unsure)
                continue;
            if (s->phase != phase::entering)
                continue;
            if (view && !view->has(s->sequence)) {
                s->forget_node();
                again = true;
            } else if (is_inside(record_, s->sequence)) {
                if (view || watched(*s)) {
                    admit(*s);
                } else {
                    list_next_ = true;
                    again = true;
                }
            }
        }
        return again;
    }

    void admit(barrier_seat& s) {
        if (!s.call->waiting()) {
            withdraw(s, {});
            wake_.set();
            return;
        }
        if (record_.size != size_) {
            withdraw(s, errc::limit_mismatch);
            wake_.set();
            return;
        }
        s.round = record_.round;
        s.last = record_.last;
        s.phase = phase::inside;
        s.own_watch.disarm();
        s.call->complete(error_code());
    }

    bool decide_leaving(const std::optional<barrier_view>& view) {
        if (!view) {
            list_next_ = true;
            return true;
        }
        bool again = false;
        std::map<std::int32_t, std::vector<barrier_seat*>> rounds;
        for (const seat_ptr& s : seats_) {
            if (s->phase == phase::leaving)
                rounds[s->last].push_back(s.get());
        }
        for (auto& [last, leavers] : rounds) {
            std::vector<std::int32_t> own;
            for (barrier_seat* s : leavers) {
                if (!s->node.empty() && !view->has(s->sequence))
                    s->forget_node();
                if (!s->node.empty())
                    own.push_back(s->sequence);
            }
            std::sort(own.begin(), own.end(), sequence_less);
            leave_plan plan = plan_leave(*view, last, own);
            for (barrier_seat* s : leavers) {
                if (plan.done) {
                    end(*s, error_code());
                } else if (!s->node.empty() &&
                           std::binary_search(
                               plan.erase.begin(), plan.erase.end(), s->sequence, sequence_less)) {
                    s->erase_now = true;
                    again = true;
                }
            }
            if (plan.watch)
                target_ = join_path(folder_, *plan.watch);
        }
        return again;
    }

    task<bool> decide_waiting(const std::optional<barrier_view>& view, std::int32_t children) {
        bool waiting = false;
        for (const seat_ptr& s : seats_) {
            if (s->phase != phase::entering || s->node.empty() || s->call->over())
                continue;
            waiting = true;
            if (view && s->refuse_to_wait && !view->inside.empty()) {
                withdraw(*s, errc::would_block);
                co_return true;
            }
        }
        if (!waiting)
            co_return any_late();
        if (!view) {
            if (children >= 0 && static_cast<std::uint32_t>(children) >= size_) {
                list_next_ = true;
                co_return true;
            }
            bool again = co_await watch_own();
            co_return again || any_late();
        }
        barrier_view counted = *view;
        std::set<std::int32_t> going = own_going();
        std::erase_if(counted.waiting,
                      [&going](const barrier_member& m) { return going.contains(m.sequence); });
        if (auto next = next_round(counted, record_, size_)) {
            counted.waiting.resize(size_);
            co_return co_await begin(*next, counted.waiting);
        }
        if (!view->inside.empty() && target_.empty()) {
            target_ = join_path(folder_, view->inside.front().name);
        }
        bool again = co_await watch_own();
        co_return again || any_late();
    }

    bool any_late() const {
        return std::any_of(seats_.begin(), seats_.end(), [](const seat_ptr& s) {
            return s->phase == phase::entering && !s->node.empty() && s->call->late();
        });
    }

    /// The nodes of ours whose members have given up.
    std::set<std::int32_t> own_going() const {
        std::set<std::int32_t> going;
        for (const seat_ptr& s : seats_) {
            bool over = s->phase == phase::withdrawing || s->call->over();
            if (over && !s->node.empty())
                going.insert(s->sequence);
        }
        return going;
    }

    /// Begins a round with these members, if they are all still there.
    task<bool> begin(round_record next, std::vector<barrier_member> members) {
        constexpr std::size_t overhead = 32;
        request open(port_, op_code::multi, folder_);
        transaction steps;
        steps.set(folder_, format_round(next), *version_);
        std::size_t size =
            members.size() * (folder_.size() + members.front().name.size() + overhead);
        // A transaction that the server would not accept: then the members may have changed since
        // the listing, as on the page.
        if (size + 1024 < port_.max_request_size()) {
            for (const barrier_member& m : members)
                steps.check(join_path(folder_, m.name));
        }
        open.steps = steps.steps();
        open.generation = port_.status().generation;
        error_code ec = co_await open;
        if (ec) {
            bool look_again = ec == zk_errc::bad_version || ec == zk_errc::no_node ||
                              worth_asking_again(port_, ec);
            if (!look_again)
                fail_all(ec);
            list_next_ = true;
            co_return true;
        }
        record_ = next;
        version_ = *version_ + 1;
        for (const seat_ptr& s : seats_) {
            if (s->phase == phase::entering && !s->node.empty() && !s->unsure &&
                is_inside(record_, s->sequence)) {
                admit(*s);
            }
        }
        drop_finished();
        co_return any(phase::entering);
    }

    /// A waiting member whose node is taken away comes again.
    task<bool> watch_own() {
        std::deque<std::pair<seat_ptr, request>> reads;
        std::uint64_t revision = port_.status().revision;
        for (const seat_ptr& s : seats_) {
            if (s->phase != phase::entering || s->node.empty() || watched(*s))
                continue;
            s->own_watch.disarm();
            reads.emplace_back(std::piecewise_construct,
                               std::forward_as_tuple(s),
                               std::forward_as_tuple(port_, op_code::get, s->node));
            request& read = reads.back().second;
            read.generation = s->generation;
            read.attach(s->own_watch);
            read.send();
        }
        bool again = false;
        for (auto& [seat, read] : reads) {
            error_code ec = co_await read;
            seat->own_watch_revision = revision;
            if (ec == zk_errc::no_node) {
                seat->forget_node();
                again = true;
            } else if (ec) {
                again = true;
                if (!worth_asking_again(port_, ec))
                    withdraw(*seat, ec);
            }
        }
        co_return again;
    }

    task<bool> watch_target(std::uint64_t generation) {
        if (target_.empty()) {
            forget_target();
            co_return false;
        }
        if (target_watch_.armed() && watched_target_ == target_)
            co_return false;
        forget_target();
        watched_target_ = target_;
        request read(port_, op_code::get, watched_target_);
        read.generation = generation;
        read.attach(target_watch_);
        error_code ec = co_await read;
        if (ec)
            list_next_ = true;
        if (ec && ec != zk_errc::no_node && !worth_asking_again(port_, ec))
            fail_all(ec);
        co_return static_cast<bool>(ec);
    }

    void forget_target() {
        forget_watch(port_, target_watch_, watch_kind::data, watched_target_);
        watched_target_.clear();
    }

    port& port_;
    const std::string folder_;
    const std::uint32_t size_;
    signal wake_;
    watch_signal record_watch_;
    watch_signal target_watch_;
    std::string target_;          ///< whose end to wait for
    std::string watched_target_;  ///< of `target_watch_`
    std::list<seat_ptr> seats_;
    round_record record_;
    std::optional<std::int32_t> version_;  ///< of the record
    std::uint64_t record_generation_ = 0;
    bool list_next_ = false;
    bool running_ = false;
};

/// The rooms of a session.
class barrier_rooms final : public service {
public:
    explicit barrier_rooms(port& p) noexcept : port_(p) {}

    std::shared_ptr<barrier_room> find(const std::string& path, std::uint32_t size) {
        std::weak_ptr<barrier_room>& slot = rooms_[{path, size}];
        std::shared_ptr<barrier_room> room = slot.lock();
        if (!room) {
            room = std::make_shared<barrier_room>(port_, path, size);
            slot = room;
        }
        return room;
    }

    void tidy() {
        std::erase_if(rooms_, [](const auto& entry) { return entry.second.expired(); });
    }

private:
    port& port_;
    std::map<std::pair<std::string, std::uint32_t>, std::weak_ptr<barrier_room>> rooms_;
};

}  // namespace

class double_barrier_impl final : public recipe_core {
public:
    double_barrier_impl(port& p,
                        std::string path_,
                        std::uint32_t size_,
                        double_barrier_options options_)
        : recipe_core(p), path(std::move(path_)), size(size_), options(std::move(options_)) {}

    void enter(any_handler<void(error_code)> handler, time_point deadline) {
        if (seat && seat->phase != phase::outside && seat->phase != phase::withdrawing &&
            !(seat->phase == phase::entering && !seat->call->waiting())) {
            immediate_result<>(executor(), std::move(handler), errc::busy);
            return;
        }
        if (seat)
            round = seat->round ? seat->round : round;
        if (!room)
            room = get_port().use_service<barrier_rooms>().find(path, size);
        seat = std::make_shared<barrier_seat>(room->wake());
        seat->entries = options.acl;
        seat->refuse_to_wait = !options.wait_for_next_round;
        seat->call =
            std::make_unique<waiting_call<>>(*this, std::move(handler), room->wake(), deadline);
        room->add(seat);
    }

    void leave(any_handler<void(error_code)> handler, time_point deadline) {
        if (!seat || seat->phase != phase::inside) {
            bool busy = seat && seat->phase == phase::leaving && seat->call->waiting();
            immediate_result<>(
                executor(), std::move(handler), busy ? errc::busy : errc::not_a_member);
            return;
        }
        seat->call =
            std::make_unique<waiting_call<>>(*this, std::move(handler), room->wake(), deadline);
        if (!get_port().alive(seat->generation)) {
            seat->phase = phase::outside;
            seat->finish(get_port().status().state == session_state::closed
                             ? make_error_code(errc::closed)
                             : make_error_code(zk_errc::session_expired));
            return;
        }
        seat->phase = phase::leaving;
        room->add(seat);
    }

    /// The public object goes.
    void destroy() {
        stop();
        if (seat && seat->phase == phase::inside && get_port().alive(seat->generation)) {
            seat->phase = phase::withdrawing;
            room->add(seat);
        }
        seat.reset();
        if (room) {
            room.reset();
            get_port().use_service<barrier_rooms>().tidy();
        }
    }

    const std::string path;
    const std::uint32_t size;
    const double_barrier_options options;
    std::shared_ptr<barrier_room> room;
    seat_ptr seat;
    std::uint64_t round = 0;
};

namespace {

bool ready(const std::shared_ptr<double_barrier_impl>& impl,
           any_handler<void(error_code)>& handler) {
    if (!usable(impl, handler))
        return false;
    error_code problem;
    if (!path_is_good(impl->get_port(), "double barrier", impl->path))
        problem = errc::bad_path;
    if (impl->size == 0)
        problem = errc::bad_option;
    if (problem)
        immediate_result<>(impl->executor(), std::move(handler), problem);
    return !problem;
}

}  // namespace
}  // namespace detail

double_barrier::double_barrier(const client& c,
                               std::string path,
                               std::uint32_t size,
                               double_barrier_options options)
    : session_(c.implementation()) {
    if (session_) {
        impl_ = std::make_shared<detail::double_barrier_impl>(
            *session_, std::move(path), size, std::move(options));
    }
}

double_barrier::double_barrier() noexcept = default;
double_barrier::double_barrier(double_barrier&&) noexcept = default;

double_barrier& double_barrier::operator=(double_barrier&& other) noexcept {
    if (this != &other) {
        if (impl_)
            impl_->destroy();
        impl_ = std::move(other.impl_);
        session_ = std::move(other.session_);
    }
    return *this;
}

double_barrier::~double_barrier() {
    if (impl_)
        impl_->destroy();
}

std::string double_barrier::path() const {
    return impl_ ? impl_->path : std::string();
}

bool double_barrier::inside() const noexcept {
    return impl_ && impl_->seat && impl_->seat->phase == detail::phase::inside;
}

std::uint64_t double_barrier::round() const noexcept {
    if (!impl_)
        return 0;
    return impl_->seat && impl_->seat->round ? impl_->seat->round : impl_->round;
}

void double_barrier::start_enter(const impl_ptr& impl,
                                 std::chrono::nanoseconds limit,
                                 handler_of<> handler) {
    if (!detail::ready(impl, handler))
        return;
    impl->enter(std::move(handler), detail::deadline_after(impl->get_port(), limit));
}

void double_barrier::start_leave(const impl_ptr& impl,
                                 std::chrono::nanoseconds limit,
                                 handler_of<> handler) {
    if (!detail::ready(impl, handler))
        return;
    impl->leave(std::move(handler), detail::deadline_after(impl->get_port(), limit));
}

}  // namespace corozk
