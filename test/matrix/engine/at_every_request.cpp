// SPDX-License-Identifier: Apache-2.0
#include "at_every_request.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corozk::matrix {

namespace {

using enum fault;

struct row {
    std::string_view scenario;
    std::vector<fault> faults;
};

const row rows[] = {
    {"barrier.set", {request_lost, answer_lost}},
    {"barrier.wait", {request_lost, answer_lost, expired, cancel_terminal}},
    {"cache.changes", {request_lost, answer_lost, expired}},
    {"cache.changes, one-shot", {request_lost, answer_lost, expired}},
    {"configuration.one node, publish", {request_lost, answer_lost}},
    {"configuration.ready, publish", {request_lost, answer_lost, expired, cancel_terminal}},
    {"configuration.versions, publish", {request_lost, answer_lost, expired, cancel_terminal}},
    {"counter.add", {expired, cancel_terminal}},
    {"counter.add in turns", {request_lost, answer_lost, expired, cancel_terminal}},
    {"counter.kazoo, add", {request_lost, answer_lost}},
    {"counter.swap", {request_lost, answer_lost}},
    {"deadlocks.search", {request_lost, answer_lost, expired, cancel_terminal}},
    {"delay_queue.consume", {request_lost, answer_lost}},
    {"delay_queue.in order", {request_lost, answer_lost, expired}},
    {"delay_queue.take", {request_lost, answer_lost, expired, cancel_terminal, destroy_object}},
    {"double_barrier.enter", {expired, cancel_terminal}},
    {"double_barrier.leave", {cancel_terminal}},
    {"double_barrier.rounds", {request_lost, answer_lost}},
    {"election.acknowledge", {request_lost, answer_lost, cancel_terminal}},
    {"election.campaign", {cancel_terminal}},
    {"election.observe", {request_lost, answer_lost}},
    {"election.run", {expired}},
    {"leader_latch.lead", {request_lost, answer_lost, cut_after_answer, expired, long_hole}},
    {"leader_latch.rivals", {request_lost, answer_lost, expired}},
    {"lock.alone",
     {request_lost,
      answer_lost,
      cut_after_answer,
      answer_delayed,
      short_hole,
      expired,
      noticed_hole,
      long_hole}},
    {"lock.local",
     {request_lost, answer_lost, cut_after_answer, answer_delayed, short_hole, expired, long_hole}},
    {"lock.refused",
     {request_lost, answer_lost, cut_after_answer, answer_delayed, short_hole, expired}},
    {"lock.wait",
     {request_lost, answer_lost, cut_after_answer, answer_delayed, short_hole, expired}},
    {"membership.comes back", {request_lost, answer_lost}},
    {"membership.member", {expired, cancel_terminal}},
    {"membership.observe", {expired}},
    {"membership.observe two", {request_lost, answer_lost}},
    {"multi_lock.alone",
     {request_lost, answer_lost, cut_after_answer, expired, cancel_terminal, long_hole}},
    {"multi_lock.refused", {request_lost, answer_lost, expired}},
    {"name_service.follow", {request_lost, answer_lost, expired}},
    {"name_service.look up", {request_lost, answer_lost}},
    {"name_service.persistent name", {request_lost, answer_lost, expired}},
    {"name_service.session name", {request_lost, answer_lost, expired, cancel_terminal}},
    {"partitioner.hand over", {request_lost, answer_lost, expired}},
    {"partitioner.member", {request_lost, answer_lost, expired, cancel_terminal, destroy_object}},
    {"partitioner.take over", {cut_after_answer}},
    {"persistent_node.ephemeral", {request_lost, answer_lost, expired, cancel_terminal}},
    {"persistent_node.lease", {request_lost, answer_lost, expired, cancel_terminal}},
    {"persistent_node.persistent", {request_lost, answer_lost, expired}},
    {"persistent_node.status", {expired, cancel_terminal, destroy_object}},
    {"priority_lock.alone", {cancel_terminal}},
    {"priority_lock.asking", {request_lost, answer_lost, expired}},
    {"priority_lock.local", {request_lost, answer_lost, cut_after_answer, expired, long_hole}},
    {"priority_lock.overtake", {cancel_terminal}},
    {"priority_lock.refused", {request_lost, answer_lost, expired}},
    {"queue.bounded", {request_lost, answer_lost}},
    {"queue.consume", {cancel_terminal}},
    {"queue.consume again", {request_lost, answer_lost, expired}},
    {"queue.put", {request_lost, answer_lost, expired}},
    {"queue.put many", {request_lost, answer_lost, expired}},
    {"queue.take", {expired, cancel_terminal, destroy_object}},
    {"queue.take at once", {request_lost, answer_lost, expired}},
    {"rendezvous.meet", {request_lost, answer_lost, expired, cancel_terminal}},
    {"rendezvous.publish", {request_lost, answer_lost, expired, cancel_terminal}},
    {"semaphore.behind", {request_lost, answer_lost}},
    {"semaphore.curator, behind", {request_lost, answer_lost}},
    {"semaphore.curator, local", {expired, cancel_terminal}},
    {"semaphore.kazoo, behind", {request_lost, answer_lost}},
    {"semaphore.kazoo, local", {expired, cancel_terminal}},
    {"semaphore.raised by us", {request_lost, answer_lost, expired}},
    {"semaphore.wait", {cancel_terminal}},
    {"service_discovery.choose", {request_lost, answer_lost, expired}},
    {"service_discovery.dynamic",
     {request_lost, answer_lost, cut_after_answer, expired, cancel_terminal}},
    {"service_discovery.permanent", {request_lost, answer_lost, expired}},
    {"shared_lock.asked to release", {request_lost, answer_lost}},
    {"shared_lock.behind", {request_lost, answer_lost}},
    {"shared_lock.change", {expired, cancel_terminal}},
    {"shared_lock.insist", {request_lost, answer_lost}},
    {"shared_lock.local", {request_lost, answer_lost}},
    {"shared_lock.reader", {cancel_terminal}},
    {"two_phase_commit.refuse, all sites", {request_lost, answer_lost}},
    {"two_phase_commit.refuse, coordinator", {request_lost, answer_lost}},
    {"two_phase_commit.site, all sites", {cancel_terminal}},
    {"two_phase_commit.site, coordinator", {cancel_terminal}},
    {"two_phase_commit.whole, all sites", {request_lost, answer_lost, expired}},
    {"two_phase_commit.whole, coordinator", {request_lost, answer_lost, expired}},
};

}  // namespace

bool at_every_request(const scenario& s, fault f) {
    const std::string name = s.full_name();
    return std::any_of(std::begin(rows), std::end(rows), [&](const row& r) {
        return r.scenario == name &&
               std::find(r.faults.begin(), r.faults.end(), f) != r.faults.end();
    });
}

void check_rows_of_every_request() {
    for (const row& r : rows) {
        bool known = std::any_of(all_scenarios().begin(),
                                 all_scenarios().end(),
                                 [&](const scenario& s) { return s.full_name() == r.scenario; });
        if (!known)
            throw std::logic_error("no such scenario: " + std::string(r.scenario));
    }
}

}  // namespace corozk::matrix
