// SPDX-License-Identifier: Apache-2.0
// ctest: ALONE
// Endpoints of a service while the name service does not answer, or there are no threads to ask it.
#include "pending_result.hpp"
#include "scripted_names.hpp"
#include <corozk/recipe/service_provider.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <pthread.h>
#include <string>

namespace corozk::testing::endpoints_test {

using namespace corozk;
using namespace corozk::testing;
using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

void plant_instance(const std::string& service, const std::string& id, const std::string& host) {
    observer().plant(service + "/" + id, R"({"address":")" + host + R"(","port":80})");
}

/// One failure is enough.
service_provider_options strict() {
    service_provider_options options;
    options.failure_threshold = 1;
    options.set_aside_for = 1h;
    return options;
}

/// No thread can be started while this exists: their stacks would be too large.
class no_threads {
public:
    no_threads() {
        REQUIRE(pthread_getattr_default_np(&usual_) == 0);
        pthread_attr_t huge;
        REQUIRE(pthread_attr_init(&huge) == 0);
        REQUIRE(pthread_attr_setstacksize(&huge, std::size_t{1} << 47) == 0);
        REQUIRE(pthread_setattr_default_np(&huge) == 0);
        pthread_attr_destroy(&huge);
    }
    no_threads(const no_threads&) = delete;
    no_threads& operator=(const no_threads&) = delete;
    ~no_threads() {
        pthread_setattr_default_np(&usual_);
        pthread_attr_destroy(&usual_);
    }

private:
    pthread_attr_t usual_;
};

}  // namespace

TEST_CASE("endpoints: eight look-ups at a time; a name service that is down is no failure") {
    answers_at_end guard;
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::string service = path + "/web";
        observer().plant(path);
        observer().plant(service);
        for (int i = 0; i < 20; ++i)
            plant_instance(service, std::to_string(i), std::to_string(i) + ".unanswered");
        plant_instance(service, "again", "1.unanswered");
        service_provider provider(zk, path, "web", strict());
        names().set(false);
        const int before = names().questions();
        pending_result<service_endpoints> endpoints;
        provider.get_endpoints(endpoints.handler());
        co_await eventually_async([] { return names().waiters() >= 8; });
        co_await settle(zk);
        names().set(true);
        CHECK(co_await finished(endpoints) == errc::host_not_found);
        CHECK(names().most_waiters() == 8);
        CHECK(names().questions() == before + 20);
        // All are still there.
        auto [ec, chosen] = co_await provider.try_choose(as_tuple());
        CHECK_FALSE(ec);
        auto [ec2, none] = co_await provider.get_endpoints(as_tuple());
        CHECK(ec2 == errc::host_not_found);
        CHECK(names().questions() == before + 40);
    });
}

TEST_CASE("endpoints: a host that is not found while others are is set aside") {
    answers_at_end guard;
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::string service = path + "/web";
        observer().plant(path);
        observer().plant(service);
        plant_instance(service, "a", "a.unanswered");
        plant_instance(service, "b", "good.test");
        service_provider provider(zk, path, "web", strict());
        const int before = names().questions();
        for (int i = 0; i < 2; ++i) {
            service_endpoints endpoints = co_await provider.get_endpoints();
            CHECK(endpoints.begin()->instance().id == "b");
            CHECK(names().questions() == before + 1);
        }
    });
}

TEST_CASE("endpoints: without a thread for a look-up, nothing is said about the instance") {
    answers_at_end guard;
    with_client([](client& zk, std::string path) -> awaitable<void> {
        const std::string service = path + "/web";
        observer().plant(path);
        observer().plant(service);
        plant_instance(service, "b", "slow.test");
        names().set(false);
        service_provider first(zk, path, "web", strict());
        pending_result<service_endpoints> slow, both;
        first.get_endpoints(slow.handler());
        co_await eventually_async([] { return names().waiters() == 1; });
        plant_instance(service, "a", "a.unanswered");
        service_provider second(zk, path, "web", strict());
        service_instance chosen = co_await second.choose();
        CHECK(chosen.id == "a");
        const int before = names().questions();
        {
            no_threads none;
            second.get_endpoints(both.handler());
            co_await settle(zk);
        }
        CHECK_FALSE(both.done());
        names().set(true);
        CHECK(!co_await finished(both));
        CHECK(both.value().begin()->instance().id == "b");
        CHECK(!co_await finished(slow));
        CHECK(names().questions() == before);
        // It is still among the available ones, and now asked for.
        service_endpoints endpoints = co_await second.get_endpoints();
        CHECK(endpoints.begin()->instance().id == "b");
        CHECK(names().questions() == before + 2);
    });
}

}  // namespace corozk::testing::endpoints_test
