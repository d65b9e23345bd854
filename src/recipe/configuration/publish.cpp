// SPDX-License-Identifier: Apache-2.0
// Publishing: writes the parts, then makes them current in one step.
#include "driver/ensure_path.hpp"
#include "operation/path.hpp"
#include "recipe/configuration/core.hpp"
#include "recipe/toolkit/retry.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::detail {

namespace {

constexpr std::size_t publish_overhead = 1024;

}  // namespace

error_code configuration_core::problem_of(const configuration_parts& parts) const {
    for (const auto& [name, data] : parts) {
        if (!good_part_name(layout_, name))
            return reject(errc::bad_path, "invalid part name: \"", name, "\"");
        // Besides the part: paths, the check of the writer, a version's parent.
        std::size_t size = data.size() + name.size() + 2 * path().size() + publish_overhead;
        if (size > port_.max_request_size())
            return errc::too_large;
    }
    return {};
}

void configuration_core::publish(configuration_parts parts,
                                 time_limit limit,
                                 handler_of<> handler) {
    port_.spawn(run_writer(shared_from_this(), std::move(parts), limit, std::move(handler)));
}

task<> configuration_core::run_writer(std::shared_ptr<configuration_core> self,
                                      configuration_parts parts,
                                      time_limit limit,
                                      handler_of<> handler) {
    signal wake(self->port_);
    pending_call<> call(self->port_, wake, std::move(handler), limit);
    if (error_code problem = self->problem_of(parts)) {
        call.fail(problem);
        co_return;
    }
    // What it writes belongs to one session.
    session_signal session(self->port_, wake);
    co_await session_alive(self->port_, wake, call);
    if (!call.waiting())
        co_return;
    error_code ec;
    if (self->layout_ == configuration_layout::ready) {
        ec = co_await self->publish_ready(std::move(parts));
    } else {
        ec = co_await self->publish_versioned(std::move(parts));
        // Not only after success, which would never come.
        if (ec == zk_errc::quota_exceeded)
            co_await self->remove_old();
    }
    // A published version becomes visible in this object.
    if (!ec && call.waiting())
        self->start_reader();
    call.complete(ec);
}

/// The progress of publishing with `ready`.
struct configuration_core::ready_publication {
    std::string guid;
    std::uint64_t generation = 0;
    bool perhaps_writer = false;  ///< `writer` belongs, or may belong, to this attempt
    bool untouched = false;       ///< only `ready` of the previous version was deleted
};

task<error_code> configuration_core::publish_ready(configuration_parts parts) {
    ready_publication mine;
    mine.guid = port_.new_guid();
    mine.generation = port_.status().generation;
    error_code ec = co_await begin_ready(mine);
    if (!ec)
        ec = co_await write_ready(parts, mine);
    if (!ec)
        ec = co_await finish_ready(mine);
    if (ec && mine.perhaps_writer && port_.alive(mine.generation))
        co_await release_writer(mine);
    co_return ec;
}

task<error_code> configuration_core::begin_ready(ready_publication& mine) {
    bool with_ready = true;
    for (;;) {
        transaction steps;
        steps.create(at(writer_name), mine.guid, how(create_mode::ephemeral));
        if (with_ready)
            steps.erase(at(ready_name));
        request multi(port_, steps, mine.generation);
        mine.untouched = with_ready;
        error_code ec = co_await create_with_parents(port_, multi);
        retry attempt(port_, mine.generation, in_session_while_reachable);
        const bool again = attempt.again(ec);
        mine.perhaps_writer = mine.perhaps_writer || !ec || attempt.doubtful();
        if (!ec)
            co_return ec;
        if (again)
            continue;
        std::size_t failed = multi.failed_step();
        if (ec == zk_errc::node_exists && failed == 0) {
            request writer(port_, op_code::get, at(writer_name), mine.generation);
            ec = co_await writer;
            if (!ec && writer.answer == mine.guid)
                co_return ec;  // by an attempt whose response was lost
            if (!ec) {
                mine.perhaps_writer = false;
                co_return make_error_code(errc::busy);
            }
            if (ec == zk_errc::no_node || attempt.again(ec))
                continue;
            co_return ec;
        }
        if (ec == zk_errc::no_node && failed == 1) {
            with_ready = false;
            continue;
        }
        co_return ec;
    }
}

/// The names listed, each once: a transaction that deletes a node twice fails for ever.
configuration_core::name_set configuration_core::distinct(const name_list& listed) {
    name_set names;
    for (std::size_t i = 0; i < listed.size(); ++i)
        names.emplace(listed[i]);
    return names;
}

/// Lists a parent, with retries.
task<error_code> configuration_core::list(std::string version_path,
                                          std::uint64_t generation,
                                          name_set& names) {
    for (;;) {
        request listing(port_, op_code::children, version_path, generation);
        error_code ec = co_await listing;
        if (retry(port_, generation, in_session_while_reachable).again(ec))
            continue;
        names = distinct(listing.names);
        co_return ec;
    }
}

/// Applies steps in as many requests as they need, each behind the checks of `guard`, until one
/// fails.
task<configuration_core::progress> configuration_core::apply(const transaction& guard,
                                                             transaction all,
                                                             std::uint64_t generation,
                                                             retry_policy policy) {
    constexpr std::size_t comfortable = 256 * 1024;
    const std::size_t bytes = std::min(comfortable, port_.max_request_size() / 2);
    progress made;
    for (auto& chunk : cut_into_requests(std::move(all).steps(), bytes)) {
        request multi(port_, guard, generation);
        std::move(chunk.begin(), chunk.end(), std::back_inserter(multi.steps));
        made.error = co_await multi;
        retry attempt(port_, generation, policy);
        made.again = attempt.again(made.error);
        made.changed = made.changed || !made.error || attempt.doubtful();
        if (made.error) {
            made.guarded = !made.again && multi.failed_step() < guard.size();
            break;
        }
    }
    co_return made;
}

/// May be repeated from the beginning after any failure.
task<error_code> configuration_core::write_ready(const configuration_parts& parts,
                                                 ready_publication& mine) {
    for (;;) {
        name_set present;
        error_code ec = co_await list(path(), mine.generation, present);
        if (ec)
            co_return ec;
        transaction steps;
        // Another writer has finished since the look-up: its `ready` is deleted together with the
        // first change.
        if (present.contains(ready_name))
            steps.erase(at(ready_name));
        for (const auto& [name, data] : parts) {
            if (present.erase(name) > 0)
                steps.set(at(name), data);
            else
                steps.create(at(name), data, how());
        }
        for (const std::string& name : present) {
            if (good_part_name(layout_, name))
                steps.erase(at(name));
        }
        transaction guard;
        guard.check(at(writer_name));
        progress made =
            co_await apply(guard, std::move(steps), mine.generation, in_session_while_reachable);
        ec = made.error;
        mine.untouched = mine.untouched && !made.changed;
        if (made.guarded && ec == zk_errc::no_node)
            co_return make_error_code(errc::ownership_lost);
        if (!made.again && ec != zk_errc::no_node && ec != zk_errc::node_exists)
            co_return ec;
    }
}

task<error_code> configuration_core::finish_ready(const ready_publication& mine) {
    retry attempts(port_, mine.generation);
    for (;;) {
        if (attempts.doubtful()) {
            // The next writer's node has the same name and must not be deleted.
            request writer(port_, op_code::get, at(writer_name), mine.generation);
            error_code ec = co_await behind_sync(port_, writer);
            if (attempts.again(ec))
                continue;
            if (ec || writer.answer != mine.guid)
                co_return co_await published_as(mine.guid);
        }
        transaction steps;
        steps.erase(at(writer_name)).create(at(ready_name), mine.guid, how());
        request multi(port_, steps, mine.generation);
        error_code ec = co_await multi;
        if (!ec)
            co_return ec;
        if (attempts.again(ec))
            continue;
        if (!attempts.doubtful()) {
            bool gone = ec == zk_errc::no_node || ec == zk_errc::node_exists;
            co_return gone ? make_error_code(errc::ownership_lost) : ec;
        }
        co_return co_await published_as(mine.guid);
    }
}

/// After a lost response to the last step.
task<error_code> configuration_core::published_as(std::string guid) {
    retry attempts(port_);
    for (;;) {
        request ready(port_, op_code::get, at(ready_name));
        error_code ec = co_await behind_sync(port_, ready);
        if (co_await again_until_done(port_, attempts, ec))
            continue;
        if (!ec && ready.answer == guid)
            co_return ec;
        // The next writer may have replaced this version.
        co_return make_error_code(zk_errc::connection_loss);
    }
}

/// Gives up: deletes `writer`, if it belongs to this attempt, and restores `ready` if the version
/// is still complete.
task<> configuration_core::release_writer(ready_publication& mine) {
    retry attempts(port_, mine.generation);
    for (;;) {
        request get(port_, op_code::get, at(writer_name), mine.generation);
        error_code ec = co_await behind_sync(port_, get);
        bool again = co_await again_until_done(port_, attempts, ec);
        if (!ec && get.answer == mine.guid) {
            transaction steps;
            steps.erase(at(writer_name));
            if (mine.untouched)
                steps.create(at(ready_name), std::string(), how());
            request multi(port_, steps, mine.generation);
            ec = co_await multi;
            again = co_await again_until_done(port_, attempts, ec);
            if (ec && !again && mine.untouched) {
                mine.untouched = false;  // another client has created `ready`, or not permitted
                again = true;
            }
        }
        if (!again)
            co_return;
    }
}

task<error_code> configuration_core::publish_versioned(configuration_parts parts) {
    std::uint64_t generation = port_.status().generation;
    std::string guid = port_.new_guid();
    bool missing = false;
    std::int32_t version = 0;
    std::uint64_t number = 1;
    for (;;) {
        request get(port_, op_code::get, at("current"));
        error_code ec = co_await behind_sync(port_, get);
        if (retry(port_, generation, in_session_while_reachable).again(ec))
            continue;
        missing = ec == zk_errc::no_node;
        if (ec && !missing)
            co_return ec;
        if (missing)
            break;
        auto current = version_number(get.answer);
        if (!current)
            co_return make_error_code(errc::foreign_data);
        version = get.record.version;
        number = *current + 1;
        break;
    }
    std::string name = version_name(number, guid);
    std::string version_path = join_path(at("versions"), name);
    std::string writer = join_path(version_path, version_writer_name);
    const transaction unguarded;  // no other client makes this version current
    for (;;) {
        transaction steps;
        steps.create(version_path, std::string(), how());
        steps.create(writer, std::string(), how(create_mode::ephemeral));
        request multi(port_, steps, generation);
        error_code ec = co_await create_with_parents(port_, multi);
        if (!ec || ec == zk_errc::node_exists)
            break;  // the name is unique
        if (!retry(port_, generation, in_session_while_reachable).again(ec))
            co_return ec;
    }
    error_code ec = co_await fill_version(version_path, parts, generation);
    if (ec) {
        co_await remove_version(version_path, unguarded);
        co_return ec;
    }
    retry attempts(port_, generation);
    retry reading(port_);
    for (;;) {
        transaction steps;
        steps.erase(writer);
        if (missing)
            steps.create(at("current"), name, how());
        else
            steps.set(at("current"), name, version);
        request multi(port_, steps, generation);
        ec = co_await multi;
        if (!ec)
            break;
        if (attempts.again(ec))
            continue;
        // While `.writer` exists no attempt has been applied.
        bool undone = multi.failed_step() == 1;
        if (attempts.doubtful() && !undone) {
            // It names this version, or never did, or has been changed since.
            request get(port_, op_code::get, at("current"));
            error_code get_ec = co_await behind_sync(port_, get);
            if (co_await again_until_done(port_, reading, get_ec))
                continue;
            if (!get_ec && get.answer == name)
                break;
            co_return make_error_code(zk_errc::connection_loss);
        }
        bool faster =
            ec == zk_errc::bad_version || ec == zk_errc::node_exists || ec == zk_errc::no_node;
        co_await remove_version(version_path, unguarded);
        co_return faster ? make_error_code(errc::busy) : ec;
    }
    co_await remove_old();
    co_return error_code();
}

task<error_code> configuration_core::fill_version(std::string version_path,
                                                  const configuration_parts& parts,
                                                  std::uint64_t generation) {
    for (;;) {
        name_set present;
        error_code ec = co_await list(version_path, generation, present);
        if (ec)
            co_return ec;
        transaction steps;
        for (const auto& [name, data] : parts) {
            if (!present.contains(name))
                steps.create(join_path(version_path, name), data, how());
        }
        const transaction unguarded;
        progress made =
            co_await apply(unguarded, std::move(steps), generation, in_session_while_reachable);
        if (!made.again && made.error != zk_errc::node_exists)
            co_return made.error;
    }
}

/// Deletes a version and its parts while the checks of `guard` succeed. Remnants are left to the
/// next writer.
/// @return whether they succeeded
task<bool> configuration_core::remove_version(std::string version_path, const transaction& guard) {
    for (;;) {
        request listing(port_, op_code::children, version_path);
        error_code ec = co_await listing;
        if (retry(port_, while_reachable).again(ec))
            continue;
        if (ec)
            co_return true;
        transaction steps;
        for (const std::string& name : distinct(listing.names))
            steps.erase(join_path(version_path, name));
        steps.erase(version_path);
        progress made = co_await apply(guard, std::move(steps), 0, while_reachable);
        if (made.guarded)
            co_return false;
        // Another client may be deleting it, too.
        if (!made.again && made.error != zk_errc::no_node)
            co_return true;
    }
}

task<> configuration_core::remove_old() {
    request get(port_, op_code::get, at("current"));
    request listing(port_, op_code::children, at("versions"));
    get.send();
    listing.send();
    error_code get_ec = co_await get;
    error_code ec = co_await listing;
    if (get_ec || ec)
        co_return;
    std::vector<std::string> candidates =
        outdated_versions(listing.names.to_vector(), get.answer, {}, 0);
    std::vector<std::string> in_use;
    for (const std::string& name : candidates) {
        request writer(port_,
                       op_code::exists,
                       join_path(join_path(at("versions"), name), version_writer_name));
        if (co_await writer != zk_errc::no_node)
            in_use.push_back(name);
    }
    // A version that was being written at the time of the listing may have become current.
    transaction still_current;
    still_current.check(at("current"), get.record.version);
    for (const std::string& name :
         outdated_versions(listing.names.to_vector(), get.answer, in_use, options_.keep)) {
        bool held = co_await remove_version(join_path(at("versions"), name), still_current);
        if (!held)
            co_return;
    }
}

}  // namespace corozk::detail
