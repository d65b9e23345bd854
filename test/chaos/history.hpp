// SPDX-License-Identifier: Apache-2.0
// What many processes did under chaos, as others saw it, and whether it was right. No I/O.
#pragma once

#include "judgement.hpp"
#include "record.hpp"
#include "rules/counter.hpp"
#include "rules/guarded_writes.hpp"
#include "rules/items.hpp"
#include "rules/owners.hpp"
#include "rules/servers.hpp"

#include <utility>
#include <vector>

namespace corozk::chaos {

/// Records in the order in which the resource heard of them. Each file in rules/ says what has to
/// hold.
class history {
public:
    void add(record r) { records_.push_back(std::move(r)); }
    const std::vector<record>& records() const noexcept { return records_; }

    judgement judge(const final_state& last) const {
        judgement j;
        judge_owners(records_, j);
        judge_guarded_writes(records_, j);
        judge_items(records_, last, j);
        judge_counter(records_, last, j);
        judge_servers(records_, j);
        return j;
    }

private:
    std::vector<record> records_;
};

}  // namespace corozk::chaos
