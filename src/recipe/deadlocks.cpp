// SPDX-License-Identifier: Apache-2.0
#include "block/inner_call.hpp"
#include "block/line_object.hpp"
#include "recipe/deadlocks_algo.hpp"
#include "session/cancellable.hpp"
#include "session/path.hpp"
#include "session/request.hpp"
#include <corozk/recipe/deadlocks.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <functional>

namespace corozk::detail {

using infos = std::vector<contender_info>;

/// The recipes that may be at home at the paths. The first one that knows a contender there is it.
class deadlock_search {
public:
    using lister = std::function<void(inner_call<infos>&)>;
    struct place {
        std::string path;
        std::vector<lister> candidates;
    };

    explicit deadlock_search(std::shared_ptr<session> s) : owner(std::move(s)) {}

    template <class Recipe>
    static lister list_with(Recipe recipe) {
        auto shared = std::make_shared<Recipe>(std::move(recipe));
        return [shared](inner_call<infos>& call) { shared->contenders(call.token()); };
    }

    std::shared_ptr<session> owner;
    std::vector<place> places;
};

namespace {

template <class Options, class Naming>
Options named(Naming naming) {
    Options options;
    options.naming = naming;
    return options;
}

task<error_code> survey_all(port& p,
                            const deadlock_search& search,
                            const user_call<wait_graph>& call,
                            std::vector<surveyed_line>& lines) {
    signal wake(p);
    for (const auto& place : search.places) {
        request sync(p, op_code::sync, place.path);
        error_code ec = co_await sync;
        if (ec == zk_errc::no_node)
            continue;
        if (ec)
            co_return ec;
        std::vector<std::unique_ptr<inner_call<infos>>> listings;
        for (const auto& list : place.candidates) {
            listings.push_back(std::make_unique<inner_call<infos>>(p, wake));
            list(*listings.back());
        }
        surveyed_line line;
        line.path = place.path;
        for (auto& listing : listings) {
            while (!listing->done())
                co_await wake.wait();
            // The folder's data is not the limit of a semaphore: it is none.
            if (listing->error() && listing->error() != errc::foreign_data)
                ec = listing->error();
            if (!listing->error() && listing->value().size() > line.contenders.size())
                line.contenders = std::move(listing->value());
        }
        if (ec)
            co_return ec;
        lines.push_back(std::move(line));
        if (!call.waiting())
            co_return make_error_code(boost::asio::error::operation_aborted);
    }
    co_return error_code();
}

task<> find(port& p,
            std::shared_ptr<deadlock_search> search,
            std::shared_ptr<user_call<wait_graph>> call) {
    std::vector<surveyed_line> earlier;
    error_code ec = co_await survey_all(p, *search, *call, earlier);
    wait_graph graph;
    if (!ec)
        graph = judge(earlier);
    if (!graph.deadlocks.empty()) {
        std::vector<surveyed_line> later;
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
        auto& add = place.candidates;
        add.push_back(deadlock_search::list_with(lock(c, path)));
        auto curator_lock = named<lock_options>(lock_naming::curator);
        add.push_back(deadlock_search::list_with(lock(c, path, curator_lock)));
        for (auto style : {shared_lock_naming::standard,
                           shared_lock_naming::curator,
                           shared_lock_naming::kazoo}) {
            auto options = named<shared_lock_options>(style);
            add.push_back(deadlock_search::list_with(shared_lock(c, path, options)));
        }
        for (auto style : {election_naming::standard, election_naming::curator}) {
            auto options = named<election_options>(style);
            add.push_back(deadlock_search::list_with(election(c, path, options)));
        }
        add.push_back(deadlock_search::list_with(semaphore(c, path, 1)));
        add.push_back(deadlock_search::list_with(priority_lock(c, path)));
        place.path = std::move(path);
        search->places.push_back(std::move(place));
    }
    return search;
}

void start_deadlock_search(const std::shared_ptr<deadlock_search>& search,
                           any_handler<void(error_code, wait_graph)> handler) {
    const std::shared_ptr<session>& s = search->owner;
    error_code ec;
    if (!s)
        ec = errc::closed;
    for (const auto& place : search->places) {
        bool bad = path_problem(place.path) || place.path == "/";
        if (!ec && bad)
            ec = errc::bad_path;
    }
    if (ec)
        return refuse<wait_graph>(s, ec, std::move(handler));
    auto call = cancellable(user_call<wait_graph>(*s, std::move(handler)), any_cancellation);
    s->spawn(find(*s, search, std::move(call)));
}

}  // namespace corozk::detail
