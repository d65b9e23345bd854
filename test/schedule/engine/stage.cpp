// SPDX-License-Identifier: Apache-2.0
#include "stage.hpp"

#include "now_playing.hpp"
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

/// Until the background deleter has looked for nodes that were created late for the last time. ms
constexpr std::int64_t until_swept = 25'000;

/// An operation that asks again and again.
constexpr std::size_t too_many_moves = 20'000;

}  // namespace

stage::stage(const scenario& what, rules how)
    : what_(what), rules_(how), server_(what.followers), network_(server_) {
    reset_time();
    network_.clock = [] { return elapsed(); };
    server_.client_of = client_of_connection;
    kinds_left_ = rules_.kinds;
    history_.resize(static_cast<std::size_t>(what_.clients));
    if (rules_.eager && !what_.child_stats)
        server_.hide_child_stats();
    server_.forbid(what_.missing_rights);
    if (what_.hides_unreadable)
        server_.hide_unreadable();
    if (what_.old_servers)
        server_.be_old();
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
    tell_(std::to_string(elapsed()) + " ms  " + text);
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
    if (tell_)
        note(m);
    touch(m);
    cause_ = m.kind;
    server_.set_time(elapsed());
    int client_index = client_of(m);
    model::hasher what;
    what.add(m.kind);
    if (is_fault(m.kind)) {
        ++faults_done_;
        if (auto it = std::find(kinds_left_.begin(), kinds_left_.end(), m.kind);
            it != kinds_left_.end()) {
            kinds_left_.erase(it);
        }
        bool unnoticed = m.kind == move_kind::cut || m.kind == move_kind::lose_answer ||
                         m.kind == move_kind::refuse;
        if (!unnoticed)
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
        case move_kind::accept: server_.accept(*server_.find(m.who)); break;
        case move_kind::execute: server_.execute(*server_.find(m.who)); break;
        case move_kind::deliver: {
            model::add(what, server_.find(m.who)->answers.front(), server_.names());
            input(client_index, what.value());
            network_.deliver(m.who);
            break;
        }
        case move_kind::follow: server_.follow(static_cast<std::size_t>(m.who)); break;
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
        case move_kind::early_time: pass_time(m.kind == move_kind::early_time); break;
        case move_kind::cut:
        case move_kind::cut_late:
        case move_kind::refuse:
        case move_kind::silence:
            input(client_index, what.value());
            if (m.kind == move_kind::silence) {
                // Connected again it has given up its session, and the server perhaps has not.
                silent_until_[client_index] =
                    elapsed() + std::chrono::milliseconds(session_timeout).count() * 41 / 40;
                ended_sessions_.insert(client_index);
            }
            if (m.kind == move_kind::refuse)
                network_.refuse_next(m.who);
            network_.cut(m.who, m.kind == move_kind::cut_late);
            break;
        case move_kind::lose_answer:
            input(client_index, what.value());
            server_.execute(*server_.find(m.who));
            network_.cut(m.who, false);
            break;
        case move_kind::expire:
            ended_sessions_.insert(client_index);
            expired_sessions_.insert(zk(client_index).status().session_id);
            server_.end_session(zk(client_index).status().session_id);
            break;
        case move_kind::erase_node:
            erased_nodes_.insert(m.path);
            server_.erase(m.path);
            break;
        case move_kind::reap: server_.erase(m.path); break;
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
    check_always(network_.all_is_heard(), "a client does not hear what has arrived");
}

/// A session, and a request's patience, may end before the network had its turn. By the model's clock:
/// the client counts from what it heard last, up to a heartbeat earlier.
void stage::count_outages(std::int64_t wait, bool early) {
    constexpr auto enough = std::chrono::milliseconds(session_timeout).count() / 2;
    for (int i = 0; i < what_.clients; ++i) {
        if (zk(i).status().state == session_state::connected) {
            outages_.erase(i);
            continue;
        }
        outage& now = outages_[i];
        now.ms += wait;
        now.rushed = now.rushed || early;
        if (now.rushed && now.ms >= enough) {  // as if there had been silence
            ended_sessions_.insert(i);
            happened_.insert(move_kind::silence);
        }
    }
}

void stage::pass_time(bool early) {
    auto wait = until_next_timer(*context_);
    if (!wait)
        return;
    count_outages(*wait, early);
    advance_time(*wait);
    server_.set_time(elapsed());
    server_.expire_silent(elapsed());
}

// ---------------------------------------------------------------------------------------------
// A schedule

/// What a handler throws, or a check, ends its schedule and is reported like any failure.
template <class Part>
bool stage::catching(Part play) {
    try {
        return play();
    } catch (const not_this_schedule&) {
        throw;
    } catch (const std::exception& problem) {
        check_always(false, std::string("thrown: ") + problem.what());
    } catch (...) {
        check_always(false, "thrown: something that is no std::exception");
    }
    return true;
}

bool stage::run(chooser& c) {
    now_playing::begin();
    return catching([&] { return set_up() && play_out(c) && close_down(); });
}

bool stage::go_on_with(std::size_t chosen, chooser& c) {
    now_playing::begin();
    note_choice(chosen);
    return catching([&] {
        apply(move(list_[chosen]));
        return play_out(c) && close_down();
    });
}

bool stage::set_up() {
    for (int i = 0; i < what_.clients; ++i) {
        // They begin at the leader and at the others by turns.
        std::size_t at = static_cast<std::size_t>(i) % server_.servers();
        std::string here = std::to_string(at + 1) + ":" + std::to_string(first_port + i);
        std::string hosts = "127.0.0." + here;
        // Another address of the same server: it is asked where the first refuses.
        if (!rules_.eager)
            hosts += ",127.0.1." + here;
        client_options options(hosts);
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

bool stage::all_done() const {
    return std::all_of(actors_.begin(), actors_.end(), [](const actor& a) { return a.done; });
}

/// Whether everybody has done what they do, or nobody ever will.
bool stage::is_over() {
    if (all_done() || !violations_.empty())
        return true;
    if (steps_ > too_many_moves) {
        check_always(false, "this goes on for ever");
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

bool stage::all_connected() const {
    return std::all_of(clients_.begin(), clients_.end(), [](const auto& zk) {
        session_state now = zk->status().state;
        return now == session_state::connected || now == session_state::closed;
    });
}

/// Whether all are connected, and nothing is in flight.
bool stage::all_wait() const {
    bool idle = std::all_of(list_.begin(), list_.end(), [](const move& m) {
        return m.kind == move_kind::go_on || m.kind == move_kind::time || is_fault(m.kind);
    });
    return idle && all_connected();
}

bool stage::is_explored() const {
    return what_.explored == half::both || half_done_ == (what_.explored == half::leaving);
}

bool stage::play_out(chooser& c) {
    while (!is_over()) {
        list_ = moves();
        if (!half_done_ && all_wait()) {
            half_done_ = true;
            if (what_.explored == half::arriving && !c.look_at_the_rest(*this))
                return false;
        }
        std::size_t chosen = 0;
        if (list_.size() > 1 && is_explored()) {
            chosen = c.choose(*this, list_);
            if (chosen >= list_.size())
                return false;
            note_choice(chosen);
        }
        apply(move(list_[chosen]));
    }
    return !violations_.empty() || c.look_at_the_end(*this);
}

void stage::note_choice(std::size_t chosen) {
    now_playing::choose(choices_made_++, chosen);
}

/// Everything in flight arrives. @return whether there was something
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
    // Where something was refused, some may go on waiting: theirs is no end to look at.
    if (!violations_.empty() || !all_done())
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
    check_always(closed == what_.clients, "a client does not close");
    check_always(server_.sessions().empty(), "a session is left");
    check(!until_next_timer(*context_), "a timer is left");
    return true;
}

}  // namespace corozk::schedule
