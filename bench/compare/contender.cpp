// SPDX-License-Identifier: Apache-2.0
#include "compare/contender.hpp"

#include "compare/peer_work.hpp"

#include <fmt/format.h>

#include <chrono>

namespace corozk::bench {

namespace {

constexpr auto start_limit = std::chrono::seconds(60);

}  // namespace

std::string contender::title() const {
    return version_.empty() ? std::string(kind_.title)
                            : fmt::format("{} {}", kind_.title, version_);
}

bool contender::takes_part(const comparison& c) const {
    return c.has(kind_.name) && !failed_.contains(c.family());
}

boost::asio::awaitable<void> contender::start(job& j) {
    std::vector<std::string> arguments{j.on.hosts(),
                                       std::to_string(j.wanted.session_timeout.count())};
    process_ = std::make_unique<peer_process>(program_.words, arguments);
    warm_.clear();
    auto ready = co_await process_->next(start_limit);
    if (version_.empty())
        version_ = ready["version"].as_string().c_str();
}

boost::asio::awaitable<void> contender::run_or_throw(job& j,
                                                     client& observer,
                                                     comparison& c,
                                                     std::vector<result>& rows) {
    if (!process_)
        co_await start(j);
    peer_work work(j.on, observer, *process_, j.wanted.deadline);
    if (warm_.insert(c.family()).second) {
        j.on.shown().update(fmt::format("{}: warming up", kind_.title));
        std::string less = c.warm_up(j.on.fresh_path(kind_.name));
        co_await work.ask(std::move(less));
    }
    j.on.shown().update(fmt::format("{}: {}", kind_.title, c.parts().front().title));
    std::string path = j.on.fresh_path(kind_.name);
    c.prepare(j, kind_.name, path);
    std::string request = c.request(path);
    auto phases = co_await work.ask(std::move(request));
    c.from_peer(phases, rows);
}

boost::asio::awaitable<std::string> contender::run(job& j,
                                                   client& observer,
                                                   comparison& c,
                                                   std::vector<result>& rows) {
    std::string failure;
    try {
        co_await run_or_throw(j, observer, c, rows);
    } catch (const peer_failure& e) {
        failure = e.what();
        std::string notes = process_ ? process_->take_notes() : std::string();
        if (!notes.empty())
            failure += "; " + notes;
        process_.reset();
    }
    co_return failure;
}

std::deque<contender> find_contenders(job& j, std::string& remarks) {
    std::deque<contender> peers;
    for (const auto& name : j.wanted.peers) {
        const peer_kind& kind = find_peer(name);
        j.on.shown().update(fmt::format("looking for {}", kind.title));
        auto program = prepare_peer(kind);
        if (program.missing.empty()) {
            peers.emplace_back(kind, std::move(program));
        } else {
            remarks += fmt::format("{}: {}\n", kind.title, program.missing);
            j.on.shown().note(fmt::format("without {}: {}", kind.title, program.missing));
        }
    }
    return peers;
}

void note_versions(job& j, const std::deque<contender>& peers) {
    for (const contender& peer : peers)
        j.facts[fmt::format("{}_version", peer.kind().name)] = boost::json::string(peer.version());
}

}  // namespace corozk::bench
