// SPDX-License-Identifier: Apache-2.0
#include "stage.hpp"

#include "virtual_time.hpp"
#include <corozk/testing/turn_clock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <exception>

namespace corozk::schedule {

namespace {

constexpr auto session_timeout = std::chrono::seconds(10);

/// What is not over by then will never be. ms
constexpr std::int64_t for_ever = 300'000;

/// Until the janitor has looked for the last time for nodes whose creation may have come late. ms
constexpr std::int64_t until_swept = 25'000;

/// An operation that asks again and again.
constexpr std::size_t too_many_moves = 20'000;

constexpr int first_port = 1000;

}  // namespace

client& actor::zk() {
    return stage_.zk(client_);
}

bool actor::may_see(const error_code& ec, const char* during) {
    if (!ec)
        return true;
    bool good = false;
    if (ec == boost::asio::error::operation_aborted)
        good = cancelled_;
    else if (is_session_lost(ec) || ec == errc::ownership_lost || is_recoverable(ec) ||
             ec == errc::not_connected)
        good = stage_.session_ended(client_) || !stage_.erased_nodes().empty();
    if (!good) {
        stage_.check(false, name_ + " has failed with \"" + ec.message() + "\" during " + during);
    }
    return good;
}

stage::stage(const scenario& what, rules how)
    : what_(what), rules_(how), server_(what.followers), network_(server_) {
    reset_time();
    network_.clock = [] { return elapsed(); };
    server_.client_of = client_of_connection;
    history_.resize(static_cast<std::size_t>(what_.clients));
    if (rules_.eager && !what_.child_stats)
        server_.hide_child_stats();
}

stage::~stage() {
    for (actor& a : actors_)
        a.dismiss();
    // What still waits in there refers to everything else here.
    clients_.clear();
    context_.reset();
}

// ---------------------------------------------------------------------------------------------
// For scenarios

void stage::play(std::string name, int client_index, std::function<awaitable<void>(actor&)> body) {
    actor& a = actors_.emplace_back(
        *this, static_cast<int>(actors_.size()), std::move(name), client_index);
    auto whole = [](actor& who, std::function<awaitable<void>(actor&)> what) -> awaitable<void> {
        co_await what(who);
        who.done = true;
    };
    boost::asio::co_spawn(*context_, whole(a, std::move(body)), [this, &a](std::exception_ptr e) {
        if (!e)
            return;
        a.done = true;
        try {
            std::rethrow_exception(e);
        } catch (const std::exception& problem) {
            check(false, a.name() + " has thrown: " + problem.what());
        }
    });
}

void stage::plant(const std::string& path, std::string data, std::int32_t next_sequence) {
    model::log_entry entry;
    entry.zxid = 1;
    model::change c;
    c.path = path;
    c.data = std::move(data);
    server_.prepare([&](model::tree& nodes) {
        nodes.apply(entry, c);
        nodes.find(path)->creates = next_sequence;
    });
}

bool stage::exists(const std::string& path) {
    touched_.touch(model::thing::node, path, model::use::read);
    return nodes().find(path) != nullptr;
}

std::vector<std::string> stage::children(const std::string& path) {
    touched_.touch(model::thing::children, path, model::use::read);
    const model::node* n = nodes().find(path);
    if (!n)
        return {};
    return std::vector<std::string>(n->children.begin(), n->children.end());
}

std::string stage::data(const std::string& path) {
    touched_.touch(model::thing::node, path, model::use::read);
    const model::node* n = nodes().find(path);
    return n ? n->data : std::string();
}

stage::tenure::tenure(actor& a, const ownership& held, int weight, int limit)
    : tenure(
          a,
          held.path(),
          [&held] { return held.valid(); },
          weight,
          limit) {}

stage::tenure::tenure(actor& a,
                      std::string path,
                      std::function<bool()> valid,
                      int weight,
                      int limit)
    : actor_(a), path_(std::move(path)), valid_(std::move(valid)), weight_(weight), limit_(limit) {
    stage& s = a.on();
    s.owners_.insert(this);
    s.touched_.touch(model::thing::owners, "", model::use::write);
    s.check_owners();
}

stage::tenure::~tenure() {
    actor_.on().owners_.erase(this);
    actor_.on().touched_.touch(model::thing::owners, "", model::use::write);
}

/// Whoever believes to be an owner is one by the server's records, unless somebody has ended its
/// session or erased its node before it can know; and there are no more of them than there may be.
void stage::check_owners() {
    std::map<std::string, int> taken;
    std::map<std::string, int> limits;
    for (const tenure* t : owners_) {
        if (!t->valid_())
            continue;
        const model::node* n = nodes().find(t->path_);
        if (!n || n->owner == 0) {
            bool known = happened(move_kind::expire) || erased_nodes_.contains(t->path_);
            check(known,
                  t->actor_.name() + " believes to own " + t->path_ + ", which is not there");
            continue;
        }
        check(n->owner == t->actor_.zk().status().session_id,
              t->actor_.name() + " believes to own " + t->path_ + ", which is of another session");
        std::string folder = model::parent_of(t->path_);
        taken[folder] += t->weight_;
        limits[folder] = t->limit_;
    }
    for (const auto& [folder, count] : taken) {
        check(count <= limits[folder],
              "too many owners of " + folder + ": " + std::to_string(count) + " of " +
                  std::to_string(limits[folder]));
    }
}

/// What check_owners() sees depends on the order of the moves that change it.
void stage::see_owners() {
    model::hasher h;
    for (const tenure* t : owners_) {
        const model::node* n = nodes().find(t->path_);
        h.add(t->path_);
        h.add(t->valid_());
        h.add(n ? n->owner : 0);
    }
    if (h.value() != std::exchange(owners_seen_, h.value()))
        touched_.touch(model::thing::owners, "", model::use::write);
}

// ---------------------------------------------------------------------------------------------
// What may happen

int stage::client_of_connection(int connection) {
    return model::network::port_of(connection) - first_port;
}

/// Two clients that do the same at the same server, to neither of which anything has happened yet:
/// what would happen to the one happens to the other in another schedule.
bool stage::has_a_twin_before(int client_index) const {
    bool alike = what_.alike && what_.followers == 0;
    if (!alike || finishing_ || client_index <= 0 || begun_.contains(client_index))
        return false;
    for (int i = 0; i < client_index; ++i) {
        if (!begun_.contains(i))
            return true;
    }
    return false;
}

bool stage::silenced(const model::connection& c) const {
    auto it = silent_until_.find(client_of_connection(c.id));
    return it != silent_until_.end() && elapsed() < it->second;
}

int stage::client_of(const move& m) const {
    switch (m.kind) {
        case move_kind::accept:
        case move_kind::execute:
        case move_kind::deliver:
        case move_kind::cut:
        case move_kind::cut_late:
        case move_kind::lose_answer:
        case move_kind::silence:
            return client_of_connection(m.who);
        case move_kind::expire:
            return m.who;
        case move_kind::go_on:
        case move_kind::cancel:
            return actors_[static_cast<std::size_t>(m.who)].client_index();
        default:
            return -1;
    }
}

std::vector<move> stage::moves() {
    std::vector<move> list;
    int faults_left = finishing_ ? 0 : rules_.faults - faults_done_;
    for (const auto& [id, c] : server_.connections()) {
        if (c.client_gone || c.answers.empty())
            continue;
        list.push_back({move_kind::deliver, id});
        if (rules_.eager)
            return list;
    }
    bool waiting = list.empty();
    for (const auto& [id, c] : server_.connections()) {
        if (c.asked) {
            if (!c.client_gone && !silenced(c)) {
                list.push_back({move_kind::accept, id});
                waiting = false;
            }
        } else if (!c.requests.empty()) {
            list.push_back({move_kind::execute, id});
            waiting = false;
        }
    }
    for (std::size_t i = 1; i < server_.servers(); ++i) {
        if (server_.lags(i)) {
            list.push_back({move_kind::follow, static_cast<int>(i)});
            waiting = false;
        }
    }
    for (actor& a : actors_) {
        if (a.waits()) {
            list.push_back({move_kind::go_on, a.number()});
            waiting = false;
        }
    }
    if (waiting)
        list.push_back({move_kind::time, 0});
    // Whoever has been interrupted often enough is not interrupted any more.
    if (rules_.switches >= 0 && switches_done_ >= rules_.switches && list.size() > 1) {
        std::vector<move> same;
        for (const move& m : list) {
            if (client_of(m) == last_client_)
                same.push_back(m);
        }
        if (!same.empty())
            list = std::move(same);
    }
    if (faults_left > 0)
        add_faults(list);
    std::erase_if(list, [this](const move& m) { return has_a_twin_before(client_of(m)); });
    return list;
}

void stage::add_faults(std::vector<move>& list) {
    bool anything_waits = list.size() > 1 || list.front().kind != move_kind::time;
    auto kinds = what_.faults;
    if (!rules_.eager)
        kinds.insert(kinds.end(), what_.more_faults.begin(), what_.more_faults.end());
    for (move_kind kind : kinds) {
        switch (kind) {
            case move_kind::cut:
            case move_kind::silence:
                for (const auto& [id, c] : server_.connections()) {
                    if (!c.asked && !c.client_gone && !c.server_gone)
                        list.push_back({kind, id});
                }
                break;
            case move_kind::cut_late:
                for (const auto& [id, c] : server_.connections()) {
                    if (!c.asked && !c.client_gone && !c.server_gone && !c.requests.empty())
                        list.push_back({kind, id});
                }
                break;
            case move_kind::lose_answer:
                for (const auto& [id, c] : server_.connections()) {
                    if (c.asked || c.client_gone || c.server_gone || c.requests.empty())
                        continue;
                    model::verb v = c.requests.front().what;
                    bool writes = v == model::verb::create || v == model::verb::erase ||
                                  v == model::verb::set || v == model::verb::multi;
                    if (writes)
                        list.push_back({kind, id});
                }
                break;
            case move_kind::expire:
                for (int i = 0; i < what_.clients; ++i) {
                    if (server_.sessions().contains(zk(i).status().session_id))
                        list.push_back({kind, i});
                }
                break;
            case move_kind::cancel:
                for (actor& a : actors_) {
                    if (!a.done && a.cancellable())
                        list.push_back({kind, a.number()});
                }
                break;
            case move_kind::early_time:
                if (anything_waits)
                    list.push_back({kind, 0});
                break;
            case move_kind::erase_node:
                if (erasable_) {
                    for (std::string& path : erasable_(*this))
                        list.push_back({kind, 0, std::move(path)});
                }
                break;
            case move_kind::reap:
                for (std::string& path : server_.empty_containers())
                    list.push_back({kind, 0, std::move(path)});
                break;
            default:
                break;
        }
    }
}

// ---------------------------------------------------------------------------------------------
// What happens

void stage::input(int client_index, std::uint64_t what) {
    model::hasher h;
    h.add(history_[static_cast<std::size_t>(client_index)]);
    h.add(elapsed());
    h.add(what);
    history_[static_cast<std::size_t>(client_index)] = h.value();
}

void stage::note(const move& m) {
    std::string text = name_of(m.kind);
    int client_index = client_of(m);
    if (client_index >= 0)
        text += " " + std::string(1, static_cast<char>('A' + client_index));
    if (!m.path.empty())
        text += " " + m.path;
    if (m.kind == move_kind::go_on || m.kind == move_kind::cancel) {
        const actor& a = actors_[static_cast<std::size_t>(m.who)];
        text += " " + a.name() + " " + a.where();
    }
    if (model::connection* c = client_index >= 0 ? server_.find(m.who) : nullptr) {
        bool request = m.kind == move_kind::execute || m.kind == move_kind::lose_answer;
        if (request && !c->requests.empty())
            text += ": " + model::text_of(c->requests.front());
        if (m.kind == move_kind::execute && c->client_gone)
            text += " (late)";
        if (m.kind == move_kind::deliver)
            text += ": " + model::text_of(c->answers.front());
    }
    trace_.push_back(std::to_string(elapsed()) + " ms  " + text);
}

/// Of what a move touches, the server notes what happens there.
void stage::touch(const move& m) {
    int client_index = client_of(m);
    if (client_index >= 0) {
        touched_.touch_client(client_index);
        begun_.insert(client_index);
    }
    bool known = client_index >= 0 || m.kind == move_kind::erase_node || m.kind == move_kind::reap;
    if (!known || !always_.empty())
        touched_.touch_everything();
}

void stage::apply(const move& m) {
    ++steps_;
    if (tracing_)
        note(m);
    touch(m);
    cause_ = m.kind;
    server_.set_time(elapsed());
    int client_index = client_of(m);
    model::hasher what;
    what.add(m.kind);
    if (is_fault(m.kind)) {
        ++faults_done_;
        if (m.kind != move_kind::cut && m.kind != move_kind::lose_answer)
            happened_.insert(m.kind);
    } else if (m.kind == move_kind::execute || m.kind == move_kind::accept) {
        if (last_client_ >= 0 && client_index != last_client_) {
            for (const auto& [id, c] : server_.connections()) {
                if (client_of_connection(id) == last_client_ && !c.requests.empty()) {
                    ++switches_done_;
                    break;
                }
            }
        }
        last_client_ = client_index;
    }
    switch (m.kind) {
        case move_kind::accept:
            server_.accept(*server_.find(m.who));
            break;
        case move_kind::execute:
            server_.execute(*server_.find(m.who));
            break;
        case move_kind::deliver: {
            model::add(what, server_.find(m.who)->answers.front(), server_.names());
            input(client_index, what.value());
            network_.deliver(m.who);
            break;
        }
        case move_kind::follow:
            server_.follow(static_cast<std::size_t>(m.who));
            break;
        case move_kind::go_on:
        case move_kind::cancel: {
            what.add(m.who);
            input(client_index, what.value());
            actor& a = actors_[static_cast<std::size_t>(m.who)];
            if (m.kind == move_kind::cancel)
                a.cancel();
            else
                a.go_on();
            break;
        }
        case move_kind::time:
        case move_kind::early_time:
            pass_time();
            break;
        case move_kind::cut:
        case move_kind::cut_late:
        case move_kind::silence:
            input(client_index, what.value());
            if (m.kind == move_kind::silence) {
                // When it is heard of again it has given its session up, and the server perhaps not.
                silent_until_[client_index] =
                    elapsed() + std::chrono::milliseconds(session_timeout).count() * 41 / 40;
                ended_sessions_.insert(client_index);
            }
            network_.cut(m.who, m.kind == move_kind::cut_late);
            break;
        case move_kind::lose_answer:
            input(client_index, what.value());
            server_.execute(*server_.find(m.who));
            network_.cut(m.who, false);
            break;
        case move_kind::expire:
            ended_sessions_.insert(client_index);
            server_.end_session(zk(client_index).status().session_id);
            break;
        case move_kind::erase_node:
            erased_nodes_.insert(m.path);
            server_.erase(m.path);
            break;
        case move_kind::reap:
            server_.erase(m.path);
            break;
    }
    settle();
    for (const auto& invariant : always_)
        invariant(*this);
    if (!owners_.empty()) {
        check_owners();
        see_owners();
    }
}

void stage::run_clients() {
    if (!measuring_) {
        run_to_idle(*context_);
        return;
    }
    auto began = testing::turn_clock::now();
    run_to_idle(*context_);
    stretches_[cause_].add({1, testing::turn_clock::now() - began});
}

/// The clients do whatever they can do now.
void stage::settle() {
    run_clients();
    if (finishing_)
        network_.take_goodbyes();
    bool more = false;
    for (int id : network_.settle()) {
        more = true;
        // The server has closed it.
        model::hasher what;
        what.add(id);
        input(client_of_connection(id), what.value());
        touched_.touch_client(client_of_connection(id));
    }
    if (more)
        run_clients();
}

bool stage::pass_time() {
    auto wait = until_next_timer(*context_);
    if (!wait)
        return false;
    advance_time(*wait);
    server_.set_time(elapsed());
    server_.expire_silent(elapsed());
    return true;
}

// ---------------------------------------------------------------------------------------------
// A schedule

bool stage::run(chooser& c) {
    return set_up() && play_out(c) && close_down();
}

bool stage::go_on_with(std::size_t chosen, chooser& c) {
    apply(move(list_[chosen]));
    return play_out(c) && close_down();
}

bool stage::set_up() {
    for (int i = 0; i < what_.clients; ++i) {
        // They begin at the leader and at the others by turns.
        std::size_t at = static_cast<std::size_t>(i) % server_.servers();
        client_options options("127.0.0." + std::to_string(at + 1) + ":" +
                               std::to_string(first_port + i));
        options.session_timeout = session_timeout;
        options.logger.level = log_level::off;
        clients_.push_back(std::make_unique<client>(context_->get_executor(), options));
        clients_.back()->connect([this](error_code ec) { check(!ec, "a client cannot connect"); });
    }
    settle();
    while (step_freely()) {
    }
    for (const std::string& path : what_.folders)
        plant(path);
    what_.set_up(*this);
    settle();
    begun_.clear();  // to have a session is to be where everybody begins
    return violations_.empty();
}

/// Whether everybody has done what they do, or nobody ever will.
bool stage::is_over() {
    bool over = std::all_of(actors_.begin(), actors_.end(), [](const actor& a) { return a.done; });
    if (over || !violations_.empty())
        return true;
    if (steps_ > too_many_moves) {
        check(false, "this goes on for ever");
        return true;
    }
    if (elapsed() > for_ever) {
        std::string who;
        for (const actor& a : actors_) {
            if (!a.done)
                who += " " + a.name();
        }
        check(false, "nothing happens any more, and these wait:" + who);
        return true;
    }
    return false;
}

bool stage::play_out(chooser& c) {
    while (!is_over()) {
        list_ = moves();
        std::size_t chosen = 0;
        if (list_.size() > 1) {
            chosen = c.choose(*this, list_);
            if (chosen >= list_.size())
                return false;
        }
        apply(move(list_[chosen]));
    }
    return !violations_.empty() || c.look_at_the_end(*this);
}

/// Whatever is on its way arrives. @return whether there was something
bool stage::step_freely() {
    bool before = std::exchange(finishing_, true);
    std::vector<move> list = moves();
    finishing_ = before;
    if (list.front().kind == move_kind::time)
        return false;
    apply(list.front());
    return violations_.empty();
}

void stage::quiet_down(std::int64_t for_ms) {
    std::int64_t end = elapsed() + for_ms;
    auto all_connected = [&] {
        return std::all_of(clients_.begin(), clients_.end(), [](const auto& c) {
            auto state = c->status().state;
            return state == session_state::connected || state == session_state::closed;
        });
    };
    while (violations_.empty()) {
        if (step_freely())
            continue;
        if (elapsed() >= end && all_connected() && !server_.has_silent_sessions())
            break;
        if (!violations_.empty() || elapsed() > end + for_ever)
            break;
        apply({move_kind::time, 0});
    }
}

bool stage::close_down() {
    finishing_ = true;
    if (!violations_.empty())
        return true;
    quiet_down(happened(move_kind::cut_late) ? until_swept : 100);
    for (const auto& invariant : finally_)
        invariant(*this);
    for (const std::string& folder : empty_) {
        for (const std::string& name : children(folder))
            check(false, "a node is left: " + folder + "/" + name);
    }
    if (!keeps_watches_)
        check(server_.watches() == 0, "watches are left:" + server_.list_watches());
    if (!violations_.empty())
        return true;
    int closed = 0;
    for (auto& c : clients_) {
        c->close([this, &closed](error_code ec) {
            check(!ec, "a client cannot be closed: " + ec.message());
            ++closed;
        });
    }
    settle();
    while (step_freely()) {
    }
    check(closed == what_.clients, "a client does not close");
    check(server_.sessions().empty(), "a session is left");
    check(!until_next_timer(*context_), "a timer is left");
    return true;
}

/// Whoever uses it has done all that they do, and it waits for nothing: it does not matter any more
/// what it went through.
bool stage::is_at_rest(int client_index) const {
    for (const actor& a : actors_) {
        if (a.client_index() == client_index && !a.done)
            return false;
    }
    const client& zk = *clients_[static_cast<std::size_t>(client_index)];
    session_status now = zk.status();
    if (now.state != session_state::connected || !server_.sessions().contains(now.session_id))
        return false;
    for (const auto& [id, c] : server_.connections()) {
        bool quiet = c.requests.empty() && c.answers.empty() && !c.asked && !c.server_gone;
        if (client_of_connection(id) == client_index && !quiet)
            return false;
    }
    client_counters counts = zk.counters();
    return counts.in_flight == 0 && counts.queued == 0 && counts.watches == 0;
}

std::uint64_t stage::hash() const {
    model::hasher h;
    server_.add_to(h);
    for (int i = 0; i < what_.clients; ++i)
        h.add(is_at_rest(i) ? 0 : history_[static_cast<std::size_t>(i)]);
    h.add(elapsed());
    h.add(faults_done_);
    h.add(rules_.switches >= 0 ? switches_done_ * 64 + last_client_ : 0);
    for (const actor& a : actors_) {
        h.add(a.done);
        h.add(a.waits());
    }
    for (const auto& [id, until] : silent_until_) {
        h.add(id);
        h.add(until);
    }
    for (move_kind k : happened_)
        h.add(k);
    // Those at rest have forgotten what they went through; the checks have not.
    for (const auto& [kind, all] : notes_) {
        h.add(kind);
        h.add(all);
    }
    for (int client_index : ended_sessions_)
        h.add(client_index);
    for (const std::string& path : erased_nodes_)
        h.add(path);
    return h.value();
}

}  // namespace corozk::schedule
