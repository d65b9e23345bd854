// SPDX-License-Identifier: Apache-2.0
// Dispatches requests. An error in a request affects only its own response.
#pragma once

#include "board.hpp"
#include "page.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/beast/http.hpp>

#include <string>
#include <string_view>

namespace service {

using request = http::request<http::string_body>;

class router {
public:
    router(corozk::client& zk,
           std::string name,
           accounts& books,
           jobs& work,
           board& shown,
           peers& others,
           const health& state)
        : zk_(zk),
          name_(std::move(name)),
          accounts_(books),
          jobs_(work),
          board_(shown),
          peers_(others),
          health_(state) {}

    awaitable<response> answer(const request& asked) {
        using namespace asio::experimental::awaitable_operators;
        asio::steady_timer limit(zk_.get_executor(), std::chrono::seconds(10));
        auto first = co_await (attempt(asked) || limit.async_wait(asio::use_awaitable));
        if (first.index() == 0)
            co_return std::get<0>(std::move(first));
        // The operation was cancelled and leaves nothing behind.
        co_return text(asked, http::status::service_unavailable, "not within 10 s\n");
    }

    static response text(const request& asked,
                         http::status status,
                         std::string body,
                         const char* type = "text/plain; charset=utf-8") {
        response result(status, asked.version());
        result.set(http::field::content_type, type);
        result.set(http::field::cache_control, "no-store");
        result.keep_alive(asked.keep_alive());
        result.body() = std::move(body);
        result.prepare_payload();
        return result;
    }

private:
    /// Exceptions become responses. They must not escape, as `||` above waits for a success.
    awaitable<response> attempt(const request& asked) {
        std::string problem;
        auto status = http::status::internal_server_error;
        try {
            response reply = co_await route(asked);
            co_return reply;
        } catch (const not_a_number& e) {
            status = http::status::conflict;
            problem = e.what();
        } catch (const boost::system::system_error& e) {
            status = http::status::service_unavailable;
            problem = e.what();
        } catch (const std::exception& e) {
            problem = e.what();
        }
        co_return text(asked, status, problem + "\n");
    }

    awaitable<response> route(const request& asked) {
        std::string_view target(asked.target().data(), asked.target().size());
        constexpr std::string_view any = "/any/", accounts = "/accounts/", deposit = "/deposit/";
        if (asked.method() == http::verb::get && target.starts_with(any)) {
            response theirs = co_await peers_.get(std::string(target.substr(any.size() - 1)));
            std::string type(theirs[http::field::content_type]);
            co_return text(asked, theirs.result(), std::move(theirs.body()), type.c_str());
        }
        if (asked.method() == http::verb::get || asked.method() == http::verb::head)
            co_return look(asked, target.substr(0, target.find('?')));
        if (asked.method() != http::verb::post)
            co_return text(asked, http::status::method_not_allowed, "GET, HEAD or POST\n");
        if (target == "/jobs") {
            if (!jobs::read(asked.body()))
                co_return text(asked, http::status::bad_request, "a job is ACCOUNT AMOUNT\n");
            co_await jobs_.put(asked.body());
            co_return text(asked, http::status::accepted, "queued\n");
        }
        auto verb = target.find(deposit);
        if (!target.starts_with(accounts) || verb == std::string_view::npos)
            co_return text(asked, http::status::not_found, "no such place\n");
        std::optional<order> wanted =
            read_order(target.substr(accounts.size(), verb - std::min(verb, accounts.size())),
                       target.substr(verb + deposit.size()));
        if (!wanted)
            co_return text(asked, http::status::bad_request, "not an account and a number\n");
        long balance = co_await accounts_.deposit(*wanted);
        co_return text(asked, http::status::ok, std::to_string(balance) + "\n");
    }

    /// Requests that need no waiting.
    response look(const request& asked, std::string_view target) const {
        if (target == "/")
            return text(asked, http::status::ok, status_page, "text/html; charset=utf-8");
        if (target == "/status")
            return text(asked, http::status::ok, board_.text() + "\n", "application/json");
        if (target == "/metrics")
            return text(asked, http::status::ok, metrics(), "text/plain; version=0.0.4");
        if (target == "/health" && health_.good())
            return text(asked, http::status::ok, "healthy\n");
        if (target == "/health")
            return text(asked, http::status::service_unavailable, health_.text());
        return text(asked, http::status::not_found, "no such place\n");
    }

    std::string metrics() const {
        corozk::prometheus_sample sample(zk_.counters(), zk_.status(), {{"instance", name_}});
        return corozk::prometheus_text({&sample, 1});
    }

    corozk::client& zk_;
    std::string name_;
    accounts& accounts_;
    jobs& jobs_;
    board& board_;
    peers& peers_;
    const health& health_;
};

}  // namespace service
