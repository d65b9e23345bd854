// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

namespace corozk::program {

namespace {

class get_command final : public command {
public:
    explicit get_command(CLI::App& app) {
        app.add_option("PATH", path_, "the znode")->required()->each(check_path);
        app.footer(
            R"(Prints the znode's data, byte by byte: no end of line is added, except on a terminal.
With --json the version is shown as well, for corozk put --version.

Exit code 1 if there is no such znode.

Examples
  corozk get /app/limit
  limit=$(corozk get /app/limit) || limit=100
  corozk get /app/logo > logo.png
  corozk get --json /app/limit | jq .version)");
    }

    asio::awaitable<int> run(command_context& context) override {
        std::optional<node_data> found = co_await context.interrupts.race(read(context.zk));
        if (!found) {
            complain(fmt::format("{}: no such znode", path_), context.options.json);
            co_return answer_is_no;
        }
        const node_data& node = *found;
        boost::json::object value{{"path", path_},
                                  {"version", node.stat.version},
                                  {"bytes", node.stat.data_length},
                                  {"children", node.stat.num_children}};
        if (node.stat.ephemeral_owner != 0)
            value["session"] = session_name(node.stat.ephemeral_owner);
        value["data"] = node.data;
        context.out.bytes(node.data, value);
        co_return done;
    }

private:
    asio::awaitable<std::optional<node_data>> read(client& zk) const {
        auto [ec, node] = co_await zk.get(path_, as_tuple);
        if (ec == zk_errc::no_node)
            co_return std::nullopt;
        if (ec)
            throw error(ec, "get", path_);
        co_return std::move(node);
    }

    std::string path_;
};

}  // namespace

const command_entry get_entry{
    "get", "PATH", "print the data of a znode", make_command<get_command>};

}  // namespace corozk::program
