// SPDX-License-Identifier: Apache-2.0
// What may happen next.
#include "stage.hpp"
#include "virtual_time.hpp"

#include <algorithm>
#include <utility>

namespace corozk::schedule {

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
        case move_kind::refuse:
        case move_kind::silence: return client_of_connection(m.who);
        case move_kind::expire: return m.who;
        case move_kind::go_on:
        case move_kind::cancel: return actors_[static_cast<std::size_t>(m.who)].client_index();
        default: return -1;
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
    bool gates_open =
        what_.explored != half::arriving || half_done_ || (waiting && all_connected());
    for (actor& a : actors_) {
        if (a.waits() && gates_open) {
            list.push_back({move_kind::go_on, a.number()});
            waiting = false;
        }
    }
    if (waiting)
        list.push_back({move_kind::time, 0});
    // What has been interrupted often enough is not interrupted any more.
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

bool stage::may_still_happen(move_kind fault) const {
    return rules_.kinds.empty() ||
           std::find(kinds_left_.begin(), kinds_left_.end(), fault) != kinds_left_.end();
}

void stage::add_faults(std::vector<move>& list) {
    bool anything_waits = list.size() > 1 || list.front().kind != move_kind::time;
    auto kinds = what_.faults;
    if (!rules_.eager)
        kinds.insert(kinds.end(), what_.more_faults.begin(), what_.more_faults.end());
    for (move_kind kind : kinds) {
        if (!may_still_happen(kind))
            continue;
        switch (kind) {
            case move_kind::cut:
            case move_kind::refuse:
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
            default: break;
        }
    }
}

}  // namespace corozk::schedule
