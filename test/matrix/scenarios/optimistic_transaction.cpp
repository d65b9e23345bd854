// SPDX-License-Identifier: Apache-2.0
#include "matrix/engine/call.hpp"
#include <corozk/recipe/optimistic_transaction.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>

#include <optional>
#include <utility>

namespace corozk::matrix {

namespace optimistic_transaction_scenarios {

std::string path(const stage& s) {
    return s.folder() + "/n";
}

/// A function that adds one to the node, which it creates if there is none.
auto one_more(stage& s) {
    return [node = path(s), entries = options_of<optimistic_transaction_options>(s).acl](
               transaction_attempt& attempt) -> awaitable<void> {
        std::optional<std::string> text = co_await attempt.get(node);
        if (text) {
            attempt.set(node, std::to_string(std::stoul(*text) + 1));
            co_return;
        }
        create_options options;
        options.acl = &entries;
        attempt.create(node, "1", options);
    };
}

awaitable<void> probe(client& c, stage& s) {
    optimistic_transaction mine(
        c, s.folder() + "/records", options_of<optimistic_transaction_options>(s));
    s.note("tried", "1");
    auto body = one_more(s);
    co_await mine.run(body);
    s.note("done", "1");
}

error_code code_of(const std::exception_ptr& problem) {
    try {
        if (problem)
            std::rethrow_exception(problem);
    } catch (const boost::system::system_error& e) {
        return e.code();
    }
    return error_code();
}

awaitable<void> add(stage& s) {
    object<optimistic_transaction> mine(
        s, s.ours(), s.folder() + "/records", options_of<optimistic_transaction_options>(s));
    for (const char* state : {"first", "second", "third"}) {
        call<> adding(s, "run");
        s.note("tried", "1");
        awaitable<void> running = mine->run(one_more(s));  // throws if the object is destroyed
        auto token = adding.token();
        auto slot = boost::asio::get_associated_cancellation_slot(token);
        auto ended = [token = std::move(token)](const std::exception_ptr& problem) mutable {
            token(code_of(problem));
        };
        boost::asio::co_spawn(s.executor(),
                              std::move(running),
                              boost::asio::bind_cancellation_slot(slot, std::move(ended)));
        error_code ec = co_await adding.ended();
        // With its client closed or its record deleted by others, it may or may not be applied.
        if (is_outcome_unknown(ec))
            continue;
        co_await adding.result();
        s.note("done", "1");
        co_await s.state(state);
    }
}

/// No transaction is lost, and none is applied twice.
awaitable<void> exact(stage& s) {
    // With its parent the node is gone.
    if (s.which() == fault::parent_deleted)
        co_return;
    std::size_t value = s.exists(path(s)) ? std::stoul(s.data(path(s))) : 0;
    s.check(value >= s.notes("done").size(), "no transaction is lost");
    s.check(value <= s.notes("tried").size(), "no transaction is applied twice");
}

const registered all[] = {
    registered([] {
        scenario s;
        s.recipe = "optimistic_transaction";
        s.name = "add";
        s.play = add;
        s.probe = probe;
        s.invariant = exact;
        s.outlives_session = true;
        s.may_stay = [](stage& where, const std::string& below) {
            // A record goes with its object, or else after an hour, with a later one's help.
            const bool helpless =
                where.which() == fault::close_client || where.which() == fault::destroy_client;
            return below == "n" || below == "records" ||
                   (helpless && below.starts_with("records/"));
        };
        s.may_end_with[fault::long_hole] = {errc::not_connected};
        s.without[fault::own_node_deleted] = "the node is nobody's";
        return s;
    }()),
};

}  // namespace optimistic_transaction_scenarios

}  // namespace corozk::matrix
