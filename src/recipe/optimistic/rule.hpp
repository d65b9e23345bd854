// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/error.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace corozk::detail {

// What holds:
//   1. The transaction of an attempt begins with a check of everything that was read: {checks and
//      proofs of absence..., writes in their order}. It is atomic, so if it is applied, all reads are
//      true at the point in time of the writes.
//   2. A node that was read is checked by its version. One that was absent is created and deleted,
//      or, as a node without a parent does not exist, the topmost ancestor that was missing. Where
//      the first write creates the very node, that is the proof.
//   3. A check that fails is a conflict: nothing was written, and the attempt is repeated. A write
//      that fails after all checks is the user's error, as the same would happen again. If proofs
//      are among the writes and behind the failed one, it is not known yet whether the reads were
//      true: the transaction is sent again with all proofs in front.
//   4. The writes of an attempt are applied at most once: they are in an `exactly_once` transaction,
//      which is sent once, and withdrawn if its response is lost. What is only verified may be sent
//      any number of times.

/// What an attempt has read and is to write.
class attempt_record {
public:
    /// What is known without asking the server: what was written, or read before. Null: nothing.
    const std::optional<std::string>* known(const std::string& path) const;

    void saw(const std::string& path, std::string data, std::int32_t version);

    /// @param missing the topmost ancestor that does not exist, or the node
    void saw_nothing(const std::string& path, std::string missing);

    /// For a path that was read: the topmost missing ancestor, empty if it existed. Null: not read.
    const std::string* missing(const std::string& path) const;

    void create(std::string path, std::string data, const create_options& options);
    void set(std::string path, std::string data);
    void erase(std::string path);

    /// Why the writes are invalid.
    error_code fault() const noexcept { return fault_; }
    const std::string& fault_text() const noexcept { return fault_text_; }

    std::size_t reads() const noexcept { return reads_.size(); }
    bool writes() const noexcept { return !writes_.empty(); }

private:
    friend struct attempt_steps;

    struct read_node {
        std::optional<std::string> data;
        std::int32_t version = 0;
        std::string missing;
    };

    bool valid(const std::string& path);
    void wrote(const std::string& path, std::optional<std::string> data);

    std::map<std::string, read_node> reads_;
    std::map<std::string, std::optional<std::string>> written_;  ///< the data afterwards
    std::map<std::string, std::size_t> proofs_;  ///< the first write of a path, if it creates it
    transaction writes_;
    error_code fault_;
    std::string fault_text_;
};

enum class attempt_verdict : std::uint8_t {
    conflict,
    error,
    not_known,  ///< to be sent again with all proofs in front
};

/// The transaction of an attempt.
struct attempt_steps {
    /// @param writes  false: the reads are only verified
    /// @param apart   all proofs of absence are in front of the writes
    attempt_steps(const attempt_record& record, bool writes, bool apart);

    /// After the transaction has failed at this step.
    attempt_verdict judge(std::size_t failed, const error_code& ec) const;

    std::vector<transaction::step> all;
    std::size_t checks = 0;           ///< the steps in front of the writes
    std::vector<std::size_t> proofs;  ///< writes that also prove absence, in ascending order
};

}  // namespace corozk::detail
