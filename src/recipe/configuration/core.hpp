// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/local_copy.hpp"
#include "driver/request.hpp"
#include "driver/sweep.hpp"
#include "operation/path.hpp"
#include "recipe/configuration/rule.hpp"
#include "recipe/toolkit/recipe_core.hpp"
#include "recipe/toolkit/retry.hpp"
#include <corozk/recipe/configuration.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace corozk::detail {

/// Writes a configuration in one node.
class configuration_writer final : public recipe_core,
                                   public std::enable_shared_from_this<configuration_writer> {
public:
    configuration_writer(port& p, std::string path, acl entries)
        : recipe_core(p, "configuration", std::move(path)), entries_(std::move(entries)) {}

    void publish(std::string data, time_limit limit, handler_of<> handler);

private:
    static task<> run(std::shared_ptr<configuration_writer> self,
                      std::string data,
                      time_limit limit,
                      handler_of<> handler);
    task<error_code> write(std::string data, const pending_call<>& call);

    acl entries_;
};

/// The implementation of a configuration of several parts: a driver that reads, started by the
/// first call, and one per `publish`.
class configuration_core final : public recipe_core,
                                 public std::enable_shared_from_this<configuration_core> {
public:
    using call_type = waiting_call<configuration_version>;

    configuration_core(port& p,
                       std::string path,
                       configuration_options options,
                       configuration_layout layout)
        : recipe_core(p, "configuration", std::move(path)),
          wake_(p),
          options_(std::move(options)),
          layout_(layout) {}

    signal& wake() noexcept { return wake_; }
    configuration_version current() const { return latest_; }

    void next(std::uint64_t seen, std::unique_ptr<call_type> call);
    void publish(configuration_parts parts, time_limit limit, handler_of<> handler);
    void stop() noexcept override;

private:
    // Reading.
    struct waiting_reader {
        std::uint64_t seen;
        std::unique_ptr<call_type> call;
    };
    bool may_answer() const noexcept;
    void answer_calls();
    void start_reader();
    static task<> run_reader(std::shared_ptr<configuration_core> self);
    task<> read_versions();
    task<error_code> look_ready(watch_node& ready, watch_node& writer);
    task<error_code> look_versioned(watch_node& current, bool whole);
    std::vector<std::string> part_names(const name_list& children) const;
    task<error_code> read_parts(std::string parent,
                                std::vector<std::string> names,
                                configuration_parts& parts,
                                stat* ready = nullptr);
    task<error_code> read_nodes(std::vector<read_set::item> reads,
                                std::vector<read_result>& results);
    void show(configuration_status status, std::int64_t number, configuration_parts parts);
    void fail_all(error_code ec);

    // Writing.
    using name_set = std::set<std::string, std::less<>>;
    struct ready_publication;
    /// How far steps were applied.
    struct progress {
        error_code error;      ///< of the first request that failed
        bool again = false;    ///< it may be sent again
        bool guarded = false;  ///< a check of the guard failed
        bool changed = false;  ///< some may have been applied
    };
    task<progress> apply(const transaction& guard,
                         transaction all,
                         std::uint64_t generation,
                         retry_policy policy);
    static name_set distinct(const name_list& listed);
    task<error_code> list(std::string version_path, std::uint64_t generation, name_set& names);
    static task<> run_writer(std::shared_ptr<configuration_core> self,
                             configuration_parts parts,
                             time_limit limit,
                             handler_of<> handler);
    error_code problem_of(const configuration_parts& parts) const;
    task<error_code> publish_ready(configuration_parts parts);
    task<error_code> begin_ready(ready_publication& mine);
    task<error_code> write_ready(const configuration_parts& parts, ready_publication& mine);
    task<error_code> finish_ready(const ready_publication& mine);
    task<error_code> published_as(std::string guid);
    task<> release_writer(ready_publication& mine);
    task<error_code> publish_versioned(configuration_parts parts);
    task<error_code> fill_version(std::string version_path,
                                  const configuration_parts& parts,
                                  std::uint64_t generation);
    task<bool> remove_version(std::string version_path, const transaction& guard);
    task<> remove_old();

    std::string at(std::string_view name) const { return join_path(path(), name); }
    create_options how(create_mode mode = create_mode::persistent) const noexcept {
        return {.mode = mode, .acl = &options_.acl};
    }

    signal wake_;
    configuration_options options_;
    configuration_layout layout_;
    std::optional<local_copy> copy_;  ///< while the reader runs
    std::uint64_t reading_in_ = 0;    ///< the session whose server has caught up
    configuration_version latest_;
    bool one_by_one_ = false;  ///< the servers have no multi-read (ZooKeeper before 3.6)
    bool followed_ = false;    ///< `next` was called; before, only own versions are read
    std::vector<waiting_reader> calls_;
    sweep sweep_;
};

}  // namespace corozk::detail
