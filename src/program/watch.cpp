// SPDX-License-Identifier: Apache-2.0
#include "outage.hpp"
#include "run_under.hpp"

namespace corozk::program {

namespace {

/// A znode's data, or its absence.
struct watched_value {
    bool exists = false;
    std::int64_t written = 0;  ///< the transaction: no two states have the same
    std::int32_t version = 0;
    std::string data;
};

class watch_command final : public command {
public:
    explicit watch_command(CLI::App& app) {
        app.add_option("PATH", path_, "the znode, which may be missing")
            ->required()
            ->each(check_path);
        add_number<std::uint64_t>(
            app,
            "-c,--count",
            count_,
            "end after the command has run this many times (default 0: never)");
        app.add_flag("-e,--exit-on-error",
                     exit_on_error_,
                     "end with the command's exit code unless that is 0");
        run_.describe_grace(app);
        app.footer(
            R"(Runs the command at once, and again whenever the znode's data has changed, or the znode
was created or deleted. The data is the command's standard input. One command runs at a
time: if there are changes meanwhile, the next one begins when it has ended, and gets the
latest data. Intermediate states may be skipped; the latest never is.

The command's environment contains
  COROZK_EXISTS   1, or 0 if there is no such znode; standard input is empty then
  COROZK_VERSION  the version of the data; empty if there is no such znode
  COROZK_PATH     the znode
  COROZK_HOSTS    the servers
A command that fails is reported, and runs again at the next change. A command that cannot
be executed ends the watch (126, 127); --count ends it with the last command's exit code.

Watching needs permission to READ the znode: servers report no changes of other znodes,
not even their creation.

For signals, and processes that the command leaves running, see corozk lock --help. A
terminating signal also ends the watch, once the command has ended. While the servers are
unreachable the command continues, and no change is noticed; the latest state is read when
they are reachable again.

Examples
  corozk watch /app/proxy -- sh -c 'cat > proxy.conf && nginx -s reload'
  corozk watch /app/motd -- wall
  corozk watch --exit-on-error /app/jobs -- ./apply
  corozk watch /app/flag -- sh -c 'echo "$COROZK_EXISTS $COROZK_VERSION"')");
    }

    command_line takes_command() const override { return command_line::required; }

    asio::awaitable<int> run(command_context& context) override {
        attempt<void> once = [&] { return next(context.zk); };
        int code = done;
        for (std::uint64_t n = 0; count_ == 0 || n < count_; ++n) {
            co_await through_outages(
                context, wait_, "the connection was lost; still watching", once);
            run_result ended = co_await run_command(context);
            code = ended.code;
            if (!ended.allows_another() || (exit_on_error_ && code != done))
                break;
            if (code != done) {
                context.out.event("command_failed",
                                  fmt::format("the command ended with exit code {}", code),
                                  {{"path", path_}, {"exit_code", code}});
            }
        }
        co_return code;
    }

private:
    /// Waits for a state that is not the last one; returns at once at the first call.
    asio::awaitable<void> next(client& zk) {
        for (;;) {
            // Set by the last reading: what has changed while the command ran is not missed. Not
            // kept here, since it ends with a session.
            watch changed = std::move(changed_);
            if (changed.pending())
                co_await changed.next();
            watched_value now = co_await read(zk);
            bool differs = !latest_ || now.written != latest_->written;
            latest_ = std::move(now);
            if (differs)
                co_return;
        }
    }

    asio::awaitable<watched_value> read(client& zk) {
        watched_value value;
        // A new session may be at a server that lags behind what the last one has seen.
        if (const auto generation = zk.generation(); generation != synced_in_) {
            auto [behind] = co_await zk.sync(path_, as_tuple);
            if (behind)
                throw error(behind, "watch", path_);
            synced_in_ = generation;
        }
        for (;;) {
            auto [ec, found] = co_await zk.watch_data(path_, as_tuple);
            if (!ec) {
                changed_ = std::move(found.changed);
                value.exists = true;
                value.written = found.node.stat.mzxid;
                value.version = found.node.stat.version;
                value.data = std::move(found.node.data);
                co_return value;
            }
            if (ec != zk_errc::no_node)
                throw error(ec, "watch", path_);
            auto [missed, looked] = co_await zk.watch_exists(path_, as_tuple);
            if (missed)
                throw error(missed, "watch", path_);
            if (!looked.stat) {
                changed_ = std::move(looked.changed);
                co_return value;
            }
        }
    }

    asio::awaitable<run_result> run_command(command_context& context) {
        child_description what = run_.command_at(path_, context.options);
        what.input = latest_->data;
        what.lease = for_ever;  // it owns nothing that could be lost
        what.environment.emplace_back("COROZK_EXISTS", latest_->exists ? "1" : "0");
        what.environment.emplace_back("COROZK_VERSION",
                                      latest_->exists ? std::to_string(latest_->version) : "");
        loss_wait never = []() -> asio::awaitable<error_code> {
            co_await pause_until(time_point::max());
            co_return error_code();
        };
        run_result ended = co_await run_under(context, std::move(what), path_, never);
        co_return ended;
    }

    std::string path_;
    std::uint64_t count_ = 0;
    bool exit_on_error_ = false;
    run_options run_;
    watch changed_;
    std::optional<watched_value> latest_;
    std::uint64_t synced_in_ = 0;  ///< the generation of the session
};

}  // namespace

const command_entry watch_entry{"watch",
                                "PATH -- COMMAND [ARGUMENT...]",
                                "run a command at each change of a znode",
                                make_command<watch_command>};

}  // namespace corozk::program
