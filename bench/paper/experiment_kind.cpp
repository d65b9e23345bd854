// SPDX-License-Identifier: Apache-2.0
#include "paper/experiment_kind.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace corozk::bench {

namespace {

constexpr publication zookeeper_2010{
    "Hunt, Konar, Junqueira, Reed: ZooKeeper: Wait-free coordination for Internet-scale systems, "
    "USENIX ATC 2010, section 5.3",
    "table 3, on a cluster of 50 machines with two cores of 2.1 GHz; it does not say how many of "
    "them were servers. It needed 5.5 requests for each barrier operation, and did 1,950 to 3,100 "
    "a second"};

constexpr publication extensible_2015{
    "Distler, Bahn, Bessani, Fischer, Junqueira: Extensible Distributed Coordination, EuroSys 2015",
    "recipes become quicker as extensions of the server: \"it is possible to increase the "
    "throughput of a distributed queue by more than an order of magnitude (17x for ZooKeeper, 24x "
    "for DepSpace)\" (abstract). That is an extended server against an unmodified one; here the "
    "server is unmodified for all. Of its other figures and its set-up nothing was checked, so "
    "none is shown: the numbers of clients are ours, and so is how each recipe is used"};

constexpr publication synchronization_2013{
    "Kalantari, Schiper: Addressing the ZooKeeper Synchronization Inefficiency, ICDCN 2013 (LNCS "
    "7730)",
    "synchronizing by notifications \"leads to very inefficient implementation of synchronization "
    "objects\" such as queues and barriers, and a server that runs a sequence of operations for "
    "the client is more efficient (abstract). Its figures were not checked, so none is shown. The "
    "lock is not theirs"};

constexpr publication stores_2019{
    "Grzesik, Mrozek: Evaluation of Key-Value Stores for Distributed Locking Purposes, 2019 (CCIS "
    "1018)",
    "it compares locks of etcd, Consul, ZooKeeper and Redis by a program that computes while it "
    "has one (abstract), in Amazon's cloud (its slides). Its figures were not checked, so none is "
    "shown; here nothing is computed. Consul is not in Debian 12"};

}  // namespace

std::span<const experiment_kind> all_experiments() {
    static constexpr std::array experiments{
        experiment_kind{"barrier_table", &zookeeper_2010},
        experiment_kind{"counter", &extensible_2015},
        experiment_kind{"queue", &extensible_2015},
        experiment_kind{"barrier", &extensible_2015},
        experiment_kind{"election", &extensible_2015},
        experiment_kind{"herd", &synchronization_2013},
        experiment_kind{"locks", &stores_2019},
    };
    return experiments;
}

const experiment_kind& find_experiment(std::string_view name) {
    auto all = all_experiments();
    auto at = std::find_if(
        all.begin(), all.end(), [name](const experiment_kind& e) { return e.name == name; });
    if (at == all.end())
        throw std::logic_error("no such experiment: " + std::string(name));
    return *at;
}

}  // namespace corozk::bench
