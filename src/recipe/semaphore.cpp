// SPDX-License-Identifier: Apache-2.0
#include <corozk/recipe/semaphore.hpp>

#include "block/inspection.hpp"
#include "block/limit.hpp"
#include "block/line_object.hpp"
#include "recipe/semaphore_algo.hpp"

namespace corozk {

using namespace detail;

namespace {

line_settings make_settings(std::string path, std::int32_t limit, semaphore_options& options) {
    line_settings settings;
    settings.directory = std::move(path);
    settings.names = naming("", {"-lease-"});
    settings.names.weighted = true;
    settings.rule = &the_semaphore_rule();
    settings.entries = std::move(options.entries);
    settings.initial_limit = limit;
    settings.release_request = std::move(options.release_request);
    return settings;
}

/// A call that waits until the limit has been compared.
struct comparing_call final : timer_node {
    explicit comparing_call(user_call<ownership> c) : call(std::move(c)) {}
    void expired() noexcept override { call.fail(errc::deadline_exceeded); }

    user_call<ownership> call;
};

class semaphore_object final : public line_object,
                               public std::enable_shared_from_this<semaphore_object> {
public:
    semaphore_object(std::string path, std::int32_t limit, semaphore_options options)
        : line_object(make_settings(std::move(path), limit, options),
                      std::move(options.identity),
                      {"lease"}),
          limit_(limit) {
        if (!problem_ && limit_ < 1) problem_ = errc::bad_option;
    }

    error_code refusal(const contender_request& request) const override {
        return request.weight < 1 ? make_error_code(errc::bad_option) : error_code();
    }

    void enter(session& s, contender_request request, user_call<ownership> call) const override {
        if (compared_) return line_object::enter(s, std::move(request), std::move(call));
        s.spawn(enter_compared(shared_from_this(), s, std::move(request), std::move(call)));
    }

private:
    /// The first time: is the limit the one that we were configured with?
    static task<> enter_compared(std::shared_ptr<const semaphore_object> self,
                                 session& s,
                                 contender_request request,
                                 user_call<ownership> call) {
        auto waiting = std::make_shared<comparing_call>(std::move(call));
        waiting->call.on_cancel([weak = std::weak_ptr(waiting)](cancellation_type) {
            if (auto w = weak.lock()) w->call.fail(boost::asio::error::operation_aborted);
        });
        if (request.deadline) s.start_timer(*waiting, *request.deadline);
        std::int32_t limit = 0;
        error_code ec = co_await find_limit(s, self->path(), self->settings().entries,
                                            self->limit_, nullptr, limit);
        waiting->cancel();
        if (!ec && !self->compared_ && limit != self->limit_) ec = errc::limit_mismatch;
        if (!ec) self->compared_ = true;
        if (!ec && request.weight > limit) ec = errc::bad_option;
        if (ec) waiting->call.fail(ec);
        if (!waiting->call.waiting()) co_return;
        self->line_object::enter(s, std::move(request), std::move(waiting->call));
    }

    std::int32_t limit_;
    mutable bool compared_ = false;
};

template <class... Values>
std::shared_ptr<user_call<Values...>> cancellable(session& s,
                                                  any_handler<void(error_code, Values...)> handler) {
    auto call = std::make_shared<user_call<Values...>>(s, std::move(handler));
    call->on_cancel([weak = std::weak_ptr(call)](cancellation_type) {
        if (auto c = weak.lock()) c->fail(boost::asio::error::operation_aborted);
    });
    return call;
}

task<> count_free(session& s,
                  std::shared_ptr<const line_object> impl,
                  std::shared_ptr<user_call<std::int32_t>> call) {
    line_survey found;
    error_code ec = co_await survey(s, impl->settings(), impl->kinds(), found);
    call->complete(ec, ec ? 0 : free_permits(found.contenders, found.limit));
}

task<> list_holders(session& s,
                    std::shared_ptr<const line_object> impl,
                    std::shared_ptr<user_call<std::vector<contender_info>>> call) {
    line_survey found;
    error_code ec = co_await survey(s, impl->settings(), impl->kinds(), found);
    if (ec) found.contenders.clear();
    std::erase_if(found.contenders, [](const contender_info& c) { return !c.holds; });
    call->complete(ec, std::move(found.contenders));
}

task<> write_limit(session& s,
                   std::shared_ptr<const line_object> impl,
                   std::int32_t limit,
                   std::shared_ptr<user_call<>> call) {
    call->complete(co_await change_limit(s, impl->path(), impl->settings().entries, limit));
}

}  // namespace

semaphore::semaphore(const client& c,
                     std::string path,
                     std::int32_t limit,
                     semaphore_options options)
    : line_user(c,
                std::make_shared<const semaphore_object>(std::move(path), limit,
                                                         std::move(options)),
                "semaphore") {}

semaphore::semaphore(semaphore&&) noexcept = default;
semaphore& semaphore::operator=(semaphore&&) noexcept = default;
semaphore::~semaphore() = default;

void semaphore::start_available(const session_ptr& s,
                                const impl_ptr& impl,
                                any_handler<void(error_code, std::int32_t)> handler) {
    if (error_code ec = problem_of(s, impl)) return refuse<std::int32_t>(s, ec, std::move(handler));
    s->spawn(count_free(*s, impl, cancellable<std::int32_t>(*s, std::move(handler))));
}

void semaphore::start_holders(
    const session_ptr& s,
    const impl_ptr& impl,
    any_handler<void(error_code, std::vector<contender_info>)> handler) {
    using infos = std::vector<contender_info>;
    if (error_code ec = problem_of(s, impl)) return refuse<infos>(s, ec, std::move(handler));
    s->spawn(list_holders(*s, impl, cancellable<infos>(*s, std::move(handler))));
}

void semaphore::start_set_limit(const session_ptr& s,
                                const impl_ptr& impl,
                                std::int32_t limit,
                                any_handler<void(error_code)> handler) {
    error_code ec = problem_of(s, impl);
    if (!ec && limit < 1) ec = errc::bad_option;
    if (ec) return refuse<>(s, ec, std::move(handler));
    auto call = std::make_shared<user_call<>>(*s, std::move(handler));
    call->on_cancel([weak = std::weak_ptr(call)](cancellation_type type) {
        bool stops_waiting = (type & (cancellation_type::terminal | cancellation_type::partial)) !=
                             cancellation_type::none;
        auto c = weak.lock();
        if (stops_waiting && c) c->fail(boost::asio::error::operation_aborted);
    });
    s->spawn(write_limit(*s, impl, limit, std::move(call)));
}

}  // namespace corozk
