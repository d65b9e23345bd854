// SPDX-License-Identifier: Apache-2.0
// What somebody did under chaos, as the resource heard of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace corozk::chaos {

enum class deed : std::uint8_t {
    asked,         ///< is going to ask for the lock: the token comes later than this
    entered,       ///< the resource took the token
    fenced,        ///< ... refused it: a later owner was there
    used,          ///< an access with the token that the resource carried out
    left,          ///< the owner said that it is done
    wrote,         ///< through `ownership::commit`; `number` is the transaction's zxid
    leads,         ///< a term of the leader latch began
    putting,       ///< an item is going to be put
    put,           ///< ... and was, by the client's word
    refused,       ///< ... and was not, by the client's word
    done,          ///< an item was acknowledged, and its effect written with that
    took,          ///< an item was taken: it has no effect but this
    perhaps_took,  ///< ... or not: the outcome is unknown
    adding,        ///< the counter is going to be increased, `number` says which time
    added,         ///< ... and was; `token` is the sum that was told
    not_added,     ///< ... and was not
    witnessed,     ///< a plain change of one node; `token` is its version, `number` its zxid
    settled,       ///< nothing goes wrong any more, and nothing that went wrong has an effect
};

struct record {
    record() = default;
    record(deed what_, std::string who_) : what(what_), who(std::move(who_)) {}
    record(deed what_, std::string who_, std::int64_t token_, std::int64_t number_ = 0)
        : what(what_), who(std::move(who_)), token(token_), number(number_) {}
    record(deed what_, std::string who_, std::string item_)
        : what(what_), who(std::move(who_)), item(std::move(item_)) {}

    deed what = deed::entered;
    std::string who;  ///< a process, and which life of it
    std::int64_t token = 0;
    std::int64_t number = 0;
    std::string item;
};

}  // namespace corozk::chaos
