// SPDX-License-Identifier: Apache-2.0
#include "instance_table.hpp"
#include "outage.hpp"
#include "run_under.hpp"
#include <corozk/recipe/service_discovery.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value_from.hpp>
#include <boost/system/error_code.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <utility>

namespace corozk::program {

namespace {

/// The name of a service or the id of an instance.
void check_name(const std::string& name) {
    if (name.find('/') != std::string::npos)
        throw usage_error(fmt::format("'{}' is not a name: it contains '/'", name));
    check_path("/" + name);
}

void check_json(const std::string& text) {
    boost::system::error_code ec;
    boost::json::parse(text, ec);
    if (ec)
        throw usage_error(
            fmt::format("'{}' is not JSON: a string has quotes, as in '\"v7\"'", text));
}

bool has_endpoint(const service_instance& one) {
    return !one.address.empty() && one.port.value_or(0) != 0;
}

/// What --one chooses from.
std::vector<service_instance> choice_of(const service_state& state) {
    std::vector<service_instance> result;
    std::copy_if(state.instances.begin(),
                 state.instances.end(),
                 std::back_inserter(result),
                 [](const service_instance& one) { return one.enabled && has_endpoint(one); });
    return result;
}

/// Curator's format has no such names, and its instances have addresses.
bool looks_like_server_set(const service_state& state) {
    return std::any_of(
        state.instances.begin(), state.instances.end(), [](const service_instance& one) {
            return one.node.starts_with("member_") && one.address.empty();
        });
}

class discover_command final : public command {
public:
    explicit discover_command(CLI::App& app) {
        app.add_option("PATH", path_, "the services' base path")->required()->each(check_path);
        app.add_option("SERVICE", service_, "the service; without it, all are listed")
            ->each(check_name);
        app.add_flag("--watch", watch_, "continue, and show each change of the instances");
        app.add_flag("--one", one_, "print ADDRESS:PORT of one enabled instance, chosen at random")
            ->excludes("--watch");
        static const std::map<std::string, service_format> formats{
            {"curator", service_format::curator}, {"server-set", service_format::server_set}};
        app.add_option_function<std::string>(
               "--format",
               [this](const std::string& name) { format_ = formats.at(name); },
               "the format of the znodes (default: curator)")
            ->check(one_of(formats));
        wait_.describe_deadline(app);
        const std::string endpoint = "register an instance while the command runs";
        app.add_option("--register", endpoint)
            ->type_name("ADDRESS:PORT")
            ->each([this](const std::string& word) { endpoint_ = parse_endpoint(word); })
            ->excludes("--watch", "--one");
        app.add_option("--id", id_, "--register: unique in the service (default: a random one)")
            ->each(check_name);
        add_number<std::uint16_t>(app, "--ssl-port", ssl_port_, "--register: the port for TLS", 1);
        app.add_option("--payload", payload_, "--register: data for the clients of the service")
            ->type_name("JSON")
            ->each(check_json);
        app.add_option("--uri-spec",
                       uri_spec_,
                       "--register: a template, such as {scheme}://{address}:{port}/api");
        add_number<std::int32_t>(app, "--shard", shard_, "--register: a number for the instance");
        const std::string more = "--register: another endpoint, such as its metrics";
        app.add_option("--endpoint", more)
            ->type_name("NAME=ADDRESS:PORT")
            ->take_all()
            ->each([this](const std::string& word) { add_endpoint(word); });
        for (const char* name :
             {"--id", "--ssl-port", "--payload", "--uri-spec", "--shard", "--endpoint"})
            app.get_option(name)->needs("--register");
        run_.describe_grace(app);
        app.footer(
            R"(Services in the format of Curator's x-discovery: an instance is a znode
PATH/SERVICE/ID. Without SERVICE the names of the services are printed, one per line;
with it, its instances. Exit code 1 if there is none.

--format server-set is that of Finagle: an instance is a znode PATH/SERVICE/member_NUMBER.
It has no SSL port and no URI, but --shard and --endpoint, and its payload is an object
of strings.

--one waits for an instance until --deadline; without a deadline it ends with 1 if none is
enabled. An instance without an address or a port (only an SSL port) is not chosen.

--register registers the instance, then runs the command as corozk lock does. Its
environment contains COROZK_NODE (the instance's znode), COROZK_PATH (the base path) and
COROZK_HOSTS. Nothing is owned that could be lost: the command continues while the
servers are unreachable, and the instance is registered again afterwards. SIGINT, SIGTERM
and SIGQUIT unregister it at once, while the command ends; SIGHUP is only forwarded. If
another client has registered the same --id, waits until it is free, until --deadline.

Examples
  corozk discover /services
  corozk discover /services web
  curl "http://$(corozk discover --one --deadline 30s /services web)/"
  corozk discover --json /services web | jq -r '.instances[].payload'
  corozk discover --register 10.0.0.5:8080 --payload '"v7"' /services web -- ./web
  corozk discover --format server-set --register 10.0.0.5:8080 --shard 3 \
      --endpoint http-admin=10.0.0.5:9990 /twitter/service/web/prod web -- ./web)");
    }

    command_line takes_command() const override {
        return endpoint_ ? command_line::required : command_line::none;
    }

    void check(const settings&) override {
        if (service_.empty() && (watch_ || one_ || endpoint_))
            throw usage_error(fmt::format("{} needs a SERVICE, after PATH",
                                          watch_ ? "--watch"
                                          : one_ ? "--one"
                                                 : "--register"));
        if (wait_.deadline && !one_ && !endpoint_)
            throw usage_error("--deadline belongs to --one and --register");
        const bool server_set = format_ == service_format::server_set;
        if (server_set && (ssl_port_ || !uri_spec_.empty()))
            throw usage_error("--format server-set does not support --ssl-port and --uri-spec");
        if (!server_set && (shard_ || !endpoints_.empty()))
            throw usage_error("--shard and --endpoint belong to --format server-set");
    }

    asio::awaitable<int> run(command_context& context) override {
        if (endpoint_)
            return run_registered(context);
        if (one_)
            return choose(context);
        return service_.empty() ? list(context) : show_instances(context);
    }

private:
    std::string service_path() const { return (path_ == "/" ? "" : path_) + "/" + service_; }

    void add_endpoint(const std::string& word) {
        auto equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw usage_error(fmt::format("'{}' is not NAME=ADDRESS:PORT", word));
        auto [host, port] = parse_endpoint(std::string_view(word).substr(equals + 1));
        additional_endpoint where(host, port);
        if (!endpoints_.emplace(word.substr(0, equals), where).second)
            throw usage_error(fmt::format("two endpoints have the name of '{}'", word));
    }

    service_discovery_options discovery_options(const command_context& context) const {
        service_discovery_options options;
        options.format = format_;
        options.acl = context.options.acl;
        return options;
    }

    asio::awaitable<int> list(command_context& context) {
        service_discovery services(context.zk, path_);
        auto names =
            co_await context.interrupts.race(while_connected(context.zk, services.list_names()));
        std::string text;
        for (const std::string& name : names)
            text += printable(name) + "\n";
        if (!names.empty() || context.options.json) {
            context.out.result(text,
                               {{"path", path_}, {"services", boost::json::value_from(names)}});
        } else {
            complain(fmt::format("there is no service below {}", path_), context.options.json);
        }
        co_return names.empty() ? answer_is_no : done;
    }

    asio::awaitable<int> show_instances(command_context& context) {
        service_cache cache(context.zk, path_, service_, format_);
        if (watch_) {
            co_await context.interrupts.race(reporting_outages(
                context, "the connection was lost; waiting for a server", follow(context, cache)));
        }
        service_state state =
            co_await context.interrupts.race(while_connected(context.zk, cache.next()));
        bool none = state.instances.empty() && state.malformed.empty();
        if (!none || context.options.json)
            show(context, state);
        else
            complain(fmt::format("{} has no instance", service_path()), context.options.json);
        if (format_ == service_format::curator && looks_like_server_set(state)) {
            context.out.event("hint",
                              fmt::format("{} {}", service_path(), hint_at_server_set),
                              {{"path", path_}, {"message", hint_at_server_set}});
        }
        co_return state.instances.empty() ? answer_is_no : done;
    }

    /// Ends when it is cancelled.
    asio::awaitable<void> follow(command_context& context, service_cache& cache) const {
        service_state shown;
        for (;;) {
            service_state state = co_await cache.next(shown);
            // A change of the service's own znode, for instance, is none of its instances.
            const bool same =
                state.instances == shown.instances && state.malformed == shown.malformed;
            if (shown.revision == 0 || !same)
                show(context, state);
            shown = std::move(state);
        }
    }

    void show(command_context& context, const service_state& state) const {
        boost::json::array instances;
        for (const service_instance& one : state.instances)
            instances.push_back(instance_value(one));
        boost::json::object value{{"path", path_},
                                  {"service", service_},
                                  {"instances", std::move(instances)},
                                  {"malformed", boost::json::value_from(state.malformed)}};
        context.out.result(instance_table(service_path(), state) + (watch_ ? "\n" : ""), value);
    }

    asio::awaitable<int> choose(command_context& context) {
        service_cache cache(context.zk, path_, service_, format_);
        service_state state;
        if (wait_.deadline && !wait_.at_once())
            co_await context.interrupts.race(reporting_outages(
                context, "the connection was lost; still waiting", until_choice(cache, state)));
        else
            state = co_await answer(context, wait_, while_connected(context.zk, cache.next()));
        std::vector<service_instance> choice = choice_of(state);
        if (choice.empty()) {
            complain(nothing_to_choose(state), context.options.json);
            co_return wait_.deadline ? not_acquired : answer_is_no;
        }
        std::random_device random;
        std::uniform_int_distribution<std::size_t> any(0, choice.size() - 1);
        const service_instance& instance = choice[any(random)];
        context.out.result(endpoint_of(instance), instance_value(instance));
        co_return done;
    }

    /// Waits until there is an instance to choose, or for the deadline.
    asio::awaitable<void> until_choice(service_cache& cache, service_state& state) const {
        using namespace asio::experimental::awaitable_operators;
        ending<void> waited;
        auto first =
            co_await (run_to_end(next_choice(cache, state), waited) || pause_until(wait_.until()));
        if (first.index() == 0)
            waited.take();
    }

    static asio::awaitable<void> next_choice(service_cache& cache, service_state& state) {
        do {
            state = co_await cache.next(state);
        } while (choice_of(state).empty());
    }

    std::string nothing_to_choose(const service_state& state) const {
        const bool enabled = std::any_of(state.instances.begin(),
                                         state.instances.end(),
                                         [](const service_instance& one) { return one.enabled; });
        if (!enabled)
            return fmt::format("{} has no enabled instance", service_path());
        if (format_ == service_format::curator && looks_like_server_set(state))
            return fmt::format("{} {}", service_path(), hint_at_server_set);
        return fmt::format("{} has no enabled instance with an address and a port", service_path());
    }

    service_instance instance_to_register() const {
        service_instance instance(service_, endpoint_->first, endpoint_->second);
        if (!id_.empty())
            instance.id = id_;
        instance.ssl_port = ssl_port_;
        instance.payload = payload_;
        instance.uri_spec = uri_spec_;
        instance.shard = shard_;
        instance.additional_endpoints = endpoints_;
        return instance;
    }

    asio::awaitable<int> run_registered(command_context& context) {
        service_discovery_options options = discovery_options(context);
        options.wait_for_predecessor = !wait_.at_once();
        service_discovery services(context.zk, path_, options);
        service_instance instance = instance_to_register();
        auto registering = register_instance(services, instance);
        if (wait_.at_once())
            registering = answer(context, wait_, std::move(registering));
        else
            registering = context.interrupts.race(reporting_outages(
                context, "the connection was lost; still registering", std::move(registering)));
        error_code ec = co_await std::move(registering);
        if (ec == errc::deadline_exceeded || ec == errc::already_exists) {
            complain(fmt::format("{} could not be registered in time; another client may have the "
                                 "id {}",
                                 service_path(),
                                 instance.id),
                     context.options.json);
            co_return not_acquired;
        }
        if (ec == errc::bad_option)
            throw usage_error(format_ == service_format::server_set
                                  ? "--payload is not an object of strings, or a word is not UTF-8"
                              : uri_spec_.empty()
                                  ? "a word is not UTF-8"
                                  : "braces in --uri-spec are not paired, or a word is not UTF-8");
        if (ec)
            throw error(ec, "discover", service_path());
        std::string node = service_path() + "/" + instance.node_name(format_);
        if (context.options.verbose || context.options.json) {
            context.out.event("registered",
                              fmt::format("registered {}", node),
                              {{"path", path_}, {"node", node}});
        }
        child_description what = run_.command_at(path_, context.options);
        what.lease = for_ever;  // it owns nothing that could be lost
        what.environment.emplace_back("COROZK_NODE", node);
        bool registered = true;
        bool was_connected = true;
        bool was_closed = false;
        // Called again at each signal.
        loss_wait never = [&]() -> asio::awaitable<error_code> {
            const int asked_by = context.interrupts.asked_to_end_by();
            if (registered && signal_request{asked_by}.ends_command()) {
                registered = false;
                co_await services.unregister(instance, as_tuple);
            }
            auto reporting = report_outages(
                context,
                was_connected,
                "the connection was lost; the instance is registered again if the session ends");
            ending<void> reported;
            co_await run_to_end(std::move(reporting), reported);
            // No server that returns can change that; the command owns nothing that could be lost.
            if (is_closed(context.zk) && !std::exchange(was_closed, true)) {
                complain(fmt::format("{} cannot stay registered: {}",
                                     node,
                                     message_of(reason_of(failure_of(errc::closed), context.zk))),
                         context.options.json);
            }
            co_await pause_until(time_point::max());
            co_return error_code();
        };
        run_result ended = co_await run_under(context, std::move(what), node, never);
        // What is still registered ends with the session.
        co_return ended.code;
    }

    asio::awaitable<error_code> register_instance(service_discovery& services,
                                                  const service_instance& instance) const {
        time_point until = wait_.at_once() ? time_point::max() : wait_.until();
        auto [ec] = co_await services.register_instance_until(instance, until, as_tuple);
        co_return ec;
    }

    static constexpr const char* hint_at_server_set =
        "seems to be a ServerSet: use --format server-set";

    std::string path_;
    std::string service_;
    bool watch_ = false;
    bool one_ = false;
    std::optional<std::pair<std::string, std::uint16_t>> endpoint_;
    std::string id_;
    std::optional<std::uint16_t> ssl_port_;
    std::string payload_;
    std::string uri_spec_;
    service_format format_ = service_format::curator;
    std::optional<std::int32_t> shard_;
    std::map<std::string, additional_endpoint> endpoints_;
    run_options run_;
};

}  // namespace

const command_entry discover_entry{"discover",
                                   "PATH [SERVICE] [--register ADDRESS:PORT ... -- COMMAND...]",
                                   "find the instances of a service, or register one",
                                   make_command<discover_command>};

}  // namespace corozk::program
