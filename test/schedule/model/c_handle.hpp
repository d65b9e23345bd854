// SPDX-License-Identifier: Apache-2.0
// A client of the model, behind the interface of the ZooKeeper C client: its connection, what it has
// asked, and what it watches.
#pragma once

#include "network.hpp"

#include <zookeeper/zookeeper.h>

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace corozk::model {

/// What is called when a request has been answered.
struct completion {
    int xid = 0;
    verb what = verb::exists;
    const void* data = nullptr;
    void_completion_t done = nullptr;
    stat_completion_t stat = nullptr;
    data_completion_t content = nullptr;
    strings_stat_completion_t names = nullptr;
    string_completion_t text = nullptr;
    string_stat_completion_t created = nullptr;
    acl_completion_t acl = nullptr;

    bool watch = false;
    std::string path;  ///< with the chroot
    int forgets = 0;   ///< the watches that are taken back
    std::vector<zoo_op_t> ops;
    zoo_op_result_t* results = nullptr;
};

[[noreturn]] void not_modelled(const char* what);

}  // namespace corozk::model

struct _zhandle {
    watcher_fn watcher = nullptr;
    void* context = nullptr;
    std::string hosts;
    std::string chroot;
    int state = ZOO_NOTCONNECTED_STATE;
    clientid_t id{};
    int recv_timeout = 0;
    std::int64_t last_zxid = 0;
    std::int64_t last_heard = 0;
    corozk::model::endpoint* line = nullptr;
    int next_xid = 1;
    std::deque<corozk::model::completion> pending;
    std::set<std::string> node_watches;
    std::set<std::string> exists_watches;
    std::set<std::string> child_watches;
    bool gone = false;  ///< the network went before it

    std::string full(const char* path) const {
        if (chroot.empty())
            return path;
        return std::strcmp(path, "/") == 0 ? chroot : chroot + path;
    }
    std::string stripped(const std::string& path) const {
        if (chroot.empty() || !path.starts_with(chroot))
            return path;
        std::string rest = path.substr(chroot.size());
        return rest.empty() ? "/" : rest;
    }
};

namespace corozk::model {

/// The connection's next request.
void post(zhandle_t* zh, request r);

/// Calls what waits for this answer.
void complete(zhandle_t* zh, const completion& c, const answer& a);

}  // namespace corozk::model
