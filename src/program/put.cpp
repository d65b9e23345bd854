// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <algorithm>
#include <tuple>

namespace corozk::program {

namespace {

class put_command final : public command {
public:
    explicit put_command(CLI::App& app) {
        app.add_option("PATH", path_, "the znode; created if missing, as are its parents")
            ->required()
            ->each(check_path);
        // As they are: an option with a type of its own takes an empty word for none.
        app.add_option("VALUE", "the data; without it, standard input")
            ->each([this](const std::string& word) { values_.push_back(word); });
        app.add_flag("--create-only", create_only_, "do not change a znode that exists");
        add_number<std::int32_t>(
            app, "--version", version_, "change the znode only if it has this version", 0)
            ->excludes("--create-only");
        app.footer(
            R"(Writes the znode's data. Standard input is written as is, including its last end of line;
a value that begins with a dash follows --. Missing parents are created without data.
Created znodes get --acl; if parents are missing, it must allow creating (c).

Exit code 1 if nothing was written: the znode exists (--create-only), or has another
version or does not exist (--version). After exit code 69 it may have been written.

Examples
  corozk put /app/limit 100
  corozk put /app/logo < logo.png
  corozk put --create-only /app/installed yes && install
  corozk put --version 7 /app/limit 200
  corozk put /app/jvm -- -Xmx2g)");
    }

    void check(const settings& s) override {
        std::vector<std::string> values = values_;
        values.insert(values.end(), s.command.begin(), s.command.end());
        if (values.size() > 1)
            throw usage_error("one value is written: quote it as one word");
        data_ = values.empty() ? read_standard_input() : values.front();
    }

    /// A value that begins with a dash.
    command_line takes_command() const override { return command_line::optional; }

    asio::awaitable<int> run(command_context& context) override {
        error_code ec = co_await context.interrupts.race(write(context));
        std::string refusal;
        if (ec == zk_errc::node_exists)
            refusal = "exists";
        else if (ec == zk_errc::no_node)
            refusal = "no such znode";
        else if (ec == zk_errc::bad_version)
            refusal = fmt::format("does not have version {}", *version_);
        if (!refusal.empty()) {
            complain(fmt::format("{}: {}", path_, refusal), context.options.json);
            co_return answer_is_no;
        }
        if (context.options.json)
            context.out.result("", {{"path", path_}, {"version", written_}, {"created", created_}});
        co_return done;
    }

private:
    /// @return node_exists, no_node, bad_version, or no error
    asio::awaitable<error_code> write(command_context& context) {
        // Others may create and delete it at the same time.
        for (;;) {
            error_code ec = zk_errc::no_node;
            if (!create_only_)
                ec = co_await set(context.zk);
            if (ec != zk_errc::no_node || version_)
                co_return ec;
            ec = co_await create(context);
            if (ec != zk_errc::no_node && (ec != zk_errc::node_exists || create_only_))
                co_return ec;
        }
    }

    asio::awaitable<error_code> set(client& zk) {
        auto [ec, stat] = co_await zk.set(path_, data_, version_.value_or(any_version), as_tuple);
        written_ = stat.version;
        if (ec && ec != zk_errc::no_node && ec != zk_errc::bad_version)
            throw error(ec, "put", path_);
        co_return ec;
    }

    asio::awaitable<error_code> create(command_context& context) {
        create_options options;
        if (!context.options.acl.empty())
            options.acl = &context.options.acl;
        auto [ec, made] = co_await context.zk.create(path_, data_, options, as_tuple);
        // Again: an old server closes the connection on requests that it does not know, until the
        // client has noticed that.
        error_code lost;
        for (int more = 2; is_recoverable(ec) && more > 0; --more) {
            lost = ec;
            std::tie(ec, made) = co_await context.zk.create(path_, data_, options, as_tuple);
        }
        if (ec == zk_errc::node_exists && lost && create_only_)
            ec = lost;  // it may be ours
        if (ec && ec != zk_errc::no_node && ec != zk_errc::node_exists)
            throw error(ec, "put", path_);
        if (ec == zk_errc::no_node) {
            check_acl_of_parents(context.options.acl);
            // The root of --hosts may be what is missing: an error.
            std::string parent = path_.substr(0, std::max<std::size_t>(path_.rfind('/'), 1));
            auto [failure] = co_await context.zk.ensure_path(parent, options, as_tuple);
            if (failure)
                throw error(failure, "put", path_);
        }
        created_ = !ec;
        co_return ec;
    }

    /// Before any is created.
    void check_acl_of_parents(const corozk::acl& acl) const {
        auto creates = [](const acl_entry& e) {
            return (e.allowed & permission::create) != permission::none;
        };
        if (acl.empty() || path_.rfind('/') == 0 || std::any_of(acl.begin(), acl.end(), creates))
            return;
        throw usage_error(
            fmt::format("{}: its parent is missing, and would get --acl, which does not allow "
                        "creating anything below it: create the parent first, with another --acl",
                        path_));
    }

    std::string path_;
    std::vector<std::string> values_;
    bool create_only_ = false;
    std::optional<std::int32_t> version_;
    std::string data_;
    std::int32_t written_ = 0;
    bool created_ = false;
};

}  // namespace

const command_entry put_entry{
    "put", "PATH [VALUE] [-- VALUE]", "write the data of a znode", make_command<put_command>};

}  // namespace corozk::program
