// SPDX-License-Identifier: Apache-2.0
// Current problems, for a load balancer. Each part of the service reports its own state, as a part
// that hangs or has died cannot be queried.
#pragma once

#include <map>
#include <string>

namespace service {

class health {
public:
    /// The state of one part. It counts as working after its first success.
    class part {
    public:
        void works() { all_.problems_.erase(name_); }
        void fails(const std::string& why) { all_.problems_[name_] = why; }

    private:
        friend class health;
        part(health& all, std::string name) : all_(all), name_(std::move(name)) {}
        health& all_;
        std::string name_;
    };

    part add(std::string name) {
        problems_[name] = "has not started yet";
        return part(*this, std::move(name));
    }

    bool good() const { return problems_.empty(); }

    /// A line for each part that does not work.
    std::string text() const {
        std::string lines;
        for (const auto& [name, why] : problems_)
            lines += name + ": " + why + "\n";
        return lines;
    }

private:
    std::map<std::string, std::string> problems_;
};

}  // namespace service
