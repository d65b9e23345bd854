// SPDX-License-Identifier: Apache-2.0
#include "recipe/inspection/known_queues.hpp"

#include "driver/request.hpp"
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <utility>

namespace corozk::detail {

namespace {

using infos = std::vector<contender_info>;

template <class Options>
Options in_format_of(compatibility whose) {
    Options options;
    options.compatibility = whose;
    return options;
}

template <class Recipe>
known_queue as_known(Recipe recipe) {
    auto shared = std::make_shared<Recipe>(std::move(recipe));
    known_queue result;
    result.list = [shared](inner_call<infos>& call) { shared->contenders(call.token()); };
    result.break_one = [shared](std::string path, inner_call<>& call) {
        shared->break_contender(std::move(path), call.token());
    };
    result.insist = [shared](std::string path, time_limit grace, inner_call<bool>& call) {
        shared->insist_on_release(std::move(path), grace, call.token());
    };
    return result;
}

}  // namespace

std::vector<known_queue> known_queues_at(const client& c, const std::string& path) {
    std::vector<known_queue> result;
    result.push_back(as_known(lock(c, path)));
    result.push_back(as_known(lock(c, path, in_format_of<lock_options>(compatibility::curator))));
    for (auto whose : {compatibility::native, compatibility::curator, compatibility::kazoo}) {
        result.push_back(as_known(shared_lock(c, path, in_format_of<shared_lock_options>(whose))));
    }
    for (auto whose : {compatibility::native, compatibility::curator})
        result.push_back(as_known(election(c, path, in_format_of<election_options>(whose))));
    result.push_back(as_known(semaphore(c, path, 1)));
    result.push_back(as_known(priority_lock(c, path)));
    return result;
}

task<error_code> recognise(port& p,
                           const std::string& path,
                           const std::vector<known_queue>& recipes,
                           found_queue& found) {
    found = found_queue();
    signal wake(p);
    request sync(p, op_code::sync, path);
    error_code ec = co_await sync;
    if (ec)
        co_return ec == zk_errc::no_node ? error_code() : ec;
    std::vector<std::unique_ptr<inner_call<infos>>> listings;
    for (const known_queue& recipe : recipes) {
        listings.push_back(std::make_unique<inner_call<infos>>(p, wake));
        recipe.list(*listings.back());
    }
    for (std::size_t i = 0; i < listings.size(); ++i) {
        inner_call<infos>& listing = *listings[i];
        while (!listing.done())
            co_await wake.wait();
        // Not a semaphore, as the data is not a limit.
        if (listing.error() && listing.error() != errc::foreign_data)
            ec = listing.error();
        if (!listing.error() && listing.value().size() > found.contenders.size()) {
            found.contenders = std::move(listing.value());
            found.recipe = &recipes[i];
        }
    }
    co_return ec;
}

}  // namespace corozk::detail
