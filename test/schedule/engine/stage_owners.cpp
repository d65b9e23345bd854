// SPDX-License-Identifier: Apache-2.0
// Who believes to own something, and whether that is right.
#include "stage.hpp"

#include <utility>

namespace corozk::schedule {

stage::tenure::tenure(actor& a, const ownership& held, int weight, int limit)
    : tenure(
          a, held.path(), [&held] { return held.valid(); }, weight, limit) {}

stage::tenure::tenure(
    actor& a, std::string path, std::function<bool()> valid, int weight, int limit)
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

/// An owner is one by the server's records, too, unless another client has ended its
/// session or erased its node before it can know; and there are no more of them than there may be.
void stage::check_owners() {
    std::map<std::string, int> taken;
    std::map<std::string, int> limits;
    for (const tenure* t : owners_) {
        if (!t->valid_())
            continue;
        const model::node* n = nodes().find(t->path_);
        if (!n || n->owner == 0) {
            // By this session: the one that its client believes to have.
            std::int64_t session = t->actor_.zk().status().session_id;
            bool known = expired_sessions_.contains(session) || erased_nodes_.contains(t->path_);
            check_always(
                known, t->actor_.name() + " believes to own " + t->path_ + ", which is not there");
            continue;
        }
        check_always(
            n->owner == t->actor_.zk().status().session_id,
            t->actor_.name() + " believes to own " + t->path_ + ", which is of another session");
        std::string folder = model::parent_of(t->path_);
        taken[folder] += t->weight_;
        limits[folder] = t->limit_;
    }
    for (const auto& [folder, count] : taken) {
        check_always(count <= limits[folder],
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

}  // namespace corozk::schedule
