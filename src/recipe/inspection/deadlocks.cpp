// SPDX-License-Identifier: Apache-2.0
#include "driver/pending_call.hpp"
#include "operation/path.hpp"
#include "recipe/contention/contention_object.hpp"
#include "recipe/inspection/deadlocks_rule.hpp"
#include "recipe/inspection/known_queues.hpp"
#include <corozk/recipe/deadlocks.hpp>

namespace corozk::detail {

/// The recipes that may use the paths.
class deadlock_search {
public:
    struct place {
        std::string path;
        std::vector<known_queue> candidates;
    };

    explicit deadlock_search(std::shared_ptr<session_view> s) : owner(std::move(s)) {}

    std::shared_ptr<session_view> owner;
    std::vector<place> places;
};

namespace {

/// Why nothing can be there, or null.
const char* problem_at(const std::string& path) {
    return path == "/" ? "is the root" : path_problem(path);
}

task<error_code> survey_all(port& p,
                            const deadlock_search& search,
                            const pending_call<wait_graph>& call,
                            std::vector<surveyed_queue>& queues) {
    for (const auto& place : search.places) {
        found_queue found;
        error_code ec = co_await recognise(p, place.path, place.candidates, found);
        if (ec)
            co_return ec;
        surveyed_queue queue;
        queue.path = place.path;
        queue.contenders = std::move(found.contenders);
        queues.push_back(std::move(queue));
        if (!call.waiting())
            co_return make_error_code(boost::asio::error::operation_aborted);
    }
    co_return error_code();
}

task<> find(port& p,
            std::shared_ptr<deadlock_search> search,
            std::shared_ptr<pending_call<wait_graph>> call) {
    std::vector<surveyed_queue> earlier;
    error_code ec = co_await survey_all(p, *search, *call, earlier);
    wait_graph graph;
    if (!ec)
        graph = judge(earlier);
    if (!graph.deadlocks.empty()) {
        std::vector<surveyed_queue> later;
        ec = co_await survey_all(p, *search, *call, later);
        graph = ec ? wait_graph() : judge_twice(earlier, later);
    }
    call->complete(ec, std::move(graph));
}

}  // namespace

std::shared_ptr<deadlock_search> make_deadlock_search(const client& c,
                                                      std::vector<std::string> paths) {
    auto search = std::make_shared<deadlock_search>(c.implementation());
    for (std::string& path : paths) {
        deadlock_search::place place;
        if (!problem_at(path))
            place.candidates = known_queues_at(c, path);
        place.path = std::move(path);
        search->places.push_back(std::move(place));
    }
    return search;
}

void start_deadlock_search(const std::shared_ptr<deadlock_search>& search,
                           handler_of<wait_graph> handler) {
    const std::shared_ptr<session_view>& s = search->owner;
    error_code ec;
    if (!s)
        ec = errc::closed;
    for (const auto& place : search->places) {
        const char* problem = problem_at(place.path);
        if (!ec && problem) {
            ec = detail::port_of(*s).reject(
                errc::bad_path, "find_deadlocks: path \"", place.path, "\" ", problem);
        }
    }
    if (ec)
        return refuse(s, std::move(handler), ec);
    auto call = cancellable(user_call<wait_graph>(detail::port_of(*s), std::move(handler)),
                            any_cancellation);
    detail::port_of(*s).spawn(find(detail::port_of(*s), search, std::move(call)));
}

}  // namespace corozk::detail
