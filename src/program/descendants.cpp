// SPDX-License-Identifier: Apache-2.0
#include "descendants.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <unordered_map>

namespace corozk::program {

namespace {

struct process {
    descendant self;
    char state = 0;
};

using by_parent = std::unordered_multimap<pid_t, process>;

/// Whether /proc/self is this process: /proc may be that of another PID namespace.
bool proc_is_ours() {
    char target[32] = {};
    ssize_t size = ::readlink("/proc/self", target, sizeof target - 1);
    return size > 0 && std::atoi(target) == ::getpid();
}

/// "4711 (a name) S 1 4711 ...": the name may contain any characters.
bool read_stat(const char* pid, pid_t& parent, process& found) {
    std::string name = std::string("/proc/") + pid + "/stat";
    int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char text[512] = {};
    ssize_t size = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    const char* behind_name = size > 0 ? std::strrchr(text, ')') : nullptr;
    if (!behind_name)
        return false;
    found.self.pid = std::atoi(pid);
    return std::sscanf(behind_name + 1, " %c %d %d", &found.state, &parent, &found.self.group) == 3;
}

by_parent read_processes() {
    by_parent result;
    DIR* directory = ::opendir("/proc");
    if (!directory)
        return result;
    while (const dirent* entry = ::readdir(directory)) {
        pid_t parent = 0;
        process found;
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_stat(entry->d_name, parent, found))
            result.emplace(parent, found);
    }
    ::closedir(directory);
    return result;
}

}  // namespace

std::vector<descendant> descendants_of(pid_t root, const std::vector<descendant>& except) {
    std::vector<descendant> result;
    if (!proc_is_ours())
        return result;
    by_parent all = read_processes();
    std::vector<pid_t> parents{root};
    while (!parents.empty()) {
        auto [first, last] = all.equal_range(parents.back());
        parents.pop_back();
        std::vector<process> children;
        for (auto entry = first; entry != last; ++entry)
            children.push_back(entry->second);
        all.erase(first, last);  // /proc is no snapshot: there may be cycles
        for (const process& child : children) {
            auto same = [&](const descendant& d) { return d.pid == child.self.pid; };
            if (std::any_of(except.begin(), except.end(), same))
                continue;
            parents.push_back(child.self.pid);
            if (child.state != 'Z' && child.state != 'X')
                result.push_back(child.self);
        }
    }
    return result;
}

}  // namespace corozk::program
