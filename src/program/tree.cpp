// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <boost/json/array.hpp>

#include <algorithm>

namespace corozk::program {

namespace {

class tree_command final : public command {
public:
    explicit tree_command(CLI::App& app) {
        app.add_option("PATH", path_, "where to begin (default /)")->each(check_path);
        add_number<std::size_t>(
            app, "-d,--depth", depth_, "how many levels below PATH (default: all)");
        app.add_flag("--data", data_, "show the data of the znodes");
        app.footer(
            R"(Ephemeral znodes are shown with their session, unreadable ones with a question mark. Exit
code 1 if there is no such znode.

Examples
  corozk tree /app
  corozk tree --depth 1 --data /app/config
  corozk tree --json / | jq '.children[].name')");
    }

    asio::awaitable<int> run(command_context& context) override {
        boost::json::object root;
        std::string text;
        bool there =
            co_await context.interrupts.race(read(context.zk, path_, path_, 0, root, text));
        if (there)
            context.out.result(text, root);
        else
            complain(fmt::format("{}: no such znode", path_), context.options.json);
        co_return there ? done : answer_is_no;
    }

private:
    /// Adds a znode and its descendants. @return whether it exists
    asio::awaitable<bool> read(client& zk,
                               std::string path,
                               std::string name,
                               std::size_t level,
                               boost::json::object& value,
                               std::string& text) {
        auto [ec, node] = co_await zk.get(path, as_tuple);
        if (ec == zk_errc::no_node)
            co_return false;
        if (ec && ec != zk_errc::no_auth)
            throw error(ec, "get", path);
        std::size_t before = text.size();
        text += fmt::format("{:{}}{}", "", level * 2, printable(name));
        value["name"] = name;
        value["path"] = path;
        if (ec) {
            text += "  ?\n";
            value["readable"] = false;
            co_return true;
        }
        describe_node(node, value, text);
        if (level >= depth_ || node.stat.num_children == 0)
            co_return true;
        auto [listed, below] = co_await zk.get_children(path, as_tuple);
        if (listed == zk_errc::no_node) {
            text.resize(before);
            co_return false;
        }
        if (listed == zk_errc::no_auth) {
            value["readable"] = false;
            co_return true;
        }
        if (listed)
            throw error(listed, "get_children", path);
        std::sort(below.names.begin(), below.names.end());
        boost::json::array children;
        for (const std::string& child : below.names) {
            std::string child_path = (path == "/" ? "" : path) + "/" + child;
            boost::json::object child_value;
            bool there =
                co_await read(zk, std::move(child_path), child, level + 1, child_value, text);
            if (there)
                children.push_back(std::move(child_value));
        }
        value["children"] = std::move(children);
        co_return true;
    }

    void describe_node(const node_data& node, boost::json::object& value, std::string& text) const {
        value["version"] = node.stat.version;
        value["bytes"] = node.stat.data_length;
        if (node.stat.num_children == 0)
            value["children"] = boost::json::array();
        value["created"] =
            utc(std::chrono::system_clock::time_point(std::chrono::milliseconds(node.stat.ctime)));
        if (node.stat.ephemeral_owner != 0) {
            std::string session = session_name(node.stat.ephemeral_owner);
            text += fmt::format("  (session {})", session);
            value["session"] = session;
        }
        if (data_) {
            value["data"] = node.data;
            if (!node.data.empty())
                text += fmt::format("  = {}", printable(node.data));
        }
        text += "\n";
    }

    std::string path_ = "/";
    std::size_t depth_ = std::numeric_limits<std::size_t>::max();
    bool data_ = false;
};

}  // namespace

const command_entry tree_entry{
    "tree", "[PATH]", "show the znodes below a path", make_command<tree_command>};

}  // namespace corozk::program
