// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

namespace corozk::program {

namespace {

class rm_command final : public command {
public:
    explicit rm_command(CLI::App& app) {
        app.add_option("PATH", path_, "the znode")->required()->each(check_path);
        app.add_flag("-r,--recursive", recursive_, "delete the znodes below it, too");
        add_number<std::int32_t>(
            app, "--version", version_, "delete the znode only if it has this version", 0)
            ->excludes("--recursive");
        app.footer(
            R"(Deletes a znode. --recursive is not atomic: meanwhile, other clients see a part of the
subtree, and after an error a part may remain. Znodes that they create there are deleted,
too.

Exit code 1 if there is no such znode, or it has another version; 70 if it has children.
After exit code 69 it may have been deleted.

Examples
  corozk rm /app/limit
  corozk rm --recursive /app || [ $? = 1 ]   # it may be missing
  corozk rm --version 7 /app/limit)");
    }

    void check(const settings& s) override {
        if (path_ == "/")
            throw usage_error("'/' is the root, which cannot be deleted");
        const bool below_root = s.hosts.find('/') != std::string::npos;
        if (path_ == "/zookeeper" && !below_root)
            throw usage_error("'/zookeeper' belongs to the servers, which protect it");
    }

    asio::awaitable<int> run(command_context& context) override {
        error_code ec = co_await context.interrupts.race(erase(context.zk));
        if (!ec)
            co_return done;
        int code = answer_is_no;
        std::string refusal;
        if (ec == zk_errc::no_node) {
            refusal = "no such znode";
        } else if (ec == zk_errc::bad_version) {
            refusal = fmt::format("does not have version {}", *version_);
        } else {
            code = failed;
            if (ec == zk_errc::not_empty && !recursive_)
                refusal = "has children: use --recursive";
            else if (ec == zk_errc::bad_arguments)
                refusal = "belongs to the servers, which protect it";
            else
                throw error(ec, "rm", path_);
        }
        complain(fmt::format("{}: {}", path_, refusal), context.options.json);
        co_return code;
    }

private:
    asio::awaitable<error_code> erase(client& zk) const {
        error_code result;
        if (recursive_)
            std::tie(result) = co_await zk.erase_tree(path_, as_tuple);
        else
            std::tie(result) = co_await zk.erase(path_, version_.value_or(any_version), as_tuple);
        co_return result;
    }

    std::string path_;
    bool recursive_ = false;
    std::optional<std::int32_t> version_;
};

}  // namespace

const command_entry rm_entry{
    "rm", "[-r] PATH", "delete a znode, or a subtree", make_command<rm_command>};

}  // namespace corozk::program
