// SPDX-License-Identifier: Apache-2.0

#include "corozk/testing/admin.hpp"

#include "corozk/testing/error.hpp"
#include "jute.hpp"

#include <algorithm>
#include <utility>

namespace corozk::testing {
namespace {

constexpr std::size_t batch = 500;  // deletes under way at once

std::string child_path(const std::string& parent, const std::string& name) {
    return parent == "/" ? parent + name : parent + '/' + name;
}

std::string parent_path(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

admin::admin(std::uint16_t port, raw_session_options options)
    : port_{port}, options_{std::move(options)} {}

raw_session& admin::session() {
    const auto now = std::chrono::steady_clock::now();
    if (session_ && session_->connected()) {
        if (now - last_used_ < session_->negotiated_timeout() / 3) {
            last_used_ = now;
            return *session_;
        }
        try {
            session_->ping();
            last_used_ = now;
            return *session_;
        } catch (const zookeeper_error&) {
        } catch (const timeout_error&) {  // a session that is gone gets no answer
        }
    }
    session_.reset();
    session_.emplace(port_, options_);
    last_used_ = now;
    return *session_;
}

std::string admin::plant(const std::string& path,
                         std::string_view data,
                         node_kind kind,
                         const std::vector<acl_entry>& acl) {
    auto& server = session();
    try {
        return server.create(path, data, kind, acl);
    } catch (const zookeeper_error& error) {
        if (error.code() != zk_code::no_node) {
            throw;
        }
    }
    const std::string parent = parent_path(path);
    try {
        plant(parent);
    } catch (const zookeeper_error& error) {
        if (error.code() != zk_code::node_exists) {
            throw;
        }
    }
    return server.create(path, data, kind, acl);
}

void admin::set(const std::string& path, std::string_view data) {
    session().set(path, data);
}

bool admin::erase(const std::string& path) {
    try {
        session().erase(path);
        return true;
    } catch (const zookeeper_error& error) {
        if (error.code() != zk_code::no_node) {
            throw;
        }
        return false;
    }
}

std::size_t admin::erase_recursively(const std::string& path) {
    std::size_t count = 0;
    for (;;) {
        count += erase_children(path);
        if (path == "/") {
            return count;
        }
        try {
            return count + (erase(path) ? 1 : 0);
        } catch (const zookeeper_error& error) {
            if (error.code() != zk_code::not_empty) {  // somebody created a child meanwhile
                throw;
            }
        }
    }
}

std::size_t admin::erase_children(const std::string& path) {
    std::vector<std::string> rest;
    for (const auto& name : children(path)) {
        if (child_path(path, name) != "/zookeeper") {
            rest.push_back(child_path(path, name));
        }
    }
    std::size_t count = 0;
    std::vector<std::string> parents;
    for (std::size_t first = 0; first < rest.size(); first += batch) {
        const auto last = std::min(rest.size(), first + batch);
        auto& server = session();
        std::vector<std::int32_t> sent;
        for (std::size_t index = first; index < last; ++index) {
            detail::jute_writer request;
            sent.push_back(
                server.send(op_code::erase, request.buffer(rest[index]).int32(-1).bytes()));
        }
        for (std::size_t index = first; index < last; ++index) {
            const auto error = server.receive(sent[index - first]).error;
            if (error == zk_code::ok) {
                ++count;
            } else if (error == zk_code::not_empty) {
                parents.push_back(rest[index]);
            } else if (error != zk_code::no_node) {
                throw zookeeper_error{error, "delete " + rest[index]};
            }
        }
    }
    for (const auto& parent : parents) {
        count += erase_recursively(parent);
    }
    return count;
}

std::vector<std::string> admin::children(const std::string& path) {
    session().sync(path);
    return list(path);
}

std::vector<std::string> admin::list(const std::string& path) {
    try {
        auto names = session().children(path);
        std::sort(names.begin(), names.end());
        return names;
    } catch (const zookeeper_error& error) {
        if (error.code() != zk_code::no_node) {
            throw;
        }
        return {};
    }
}

std::vector<std::string> admin::tree(const std::string& path) {
    session().sync(path);
    std::vector<std::string> result{path};
    for (std::size_t next = 0; next < result.size(); ++next) {
        const auto parent = result[next];
        for (const auto& name : list(parent)) {
            if (const auto child = child_path(parent, name); child != "/zookeeper") {
                result.push_back(child);
            }
        }
    }
    result.erase(result.begin());
    std::sort(result.begin(), result.end());
    return result;
}

std::optional<node_stat> admin::stat(const std::string& path) {
    auto& server = session();
    server.sync(path);
    return server.exists(path);
}

std::string admin::data(const std::string& path) {
    auto& server = session();
    server.sync(path);
    return server.get(path).first;
}

}  // namespace corozk::testing
