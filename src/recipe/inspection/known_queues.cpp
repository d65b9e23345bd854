// SPDX-License-Identifier: Apache-2.0
#include "recipe/inspection/known_queues.hpp"

#include "driver/request.hpp"
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>

#include <cstdint>
#include <limits>
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

}  // namespace

std::vector<known_queue> known_queues_at(const client& c, const std::string& path) {
    std::vector<known_queue> result;
    auto add = [&]<class Recipe>(Recipe recipe) {
        result.push_back(std::make_shared<Recipe>(std::move(recipe)));
    };
    for (auto whose : {compatibility::native, compatibility::curator})
        add(lock(c, path, in_format_of<lock_options>(whose)));
    for (auto whose : {compatibility::native, compatibility::curator, compatibility::kazoo})
        add(shared_lock(c, path, in_format_of<shared_lock_options>(whose)));
    for (auto whose : {compatibility::native, compatibility::curator})
        add(election(c, path, in_format_of<election_options>(whose)));
    add(semaphore(c, path, 1));
    // Curator does not store a limit: each lease counts as one that holds.
    add(semaphore(c,
                  path,
                  std::numeric_limits<std::int32_t>::max(),
                  in_format_of<semaphore_options>(compatibility::curator)));
    add(priority_lock(c, path));
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
        recipe->list_contenders(listings.back()->token());
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
            found.recipe = recipes[i];
        }
    }
    co_return ec;
}

}  // namespace corozk::detail
