// SPDX-License-Identifier: Apache-2.0
#include "recipe/optimistic/rule.hpp"

#include "operation/path.hpp"
#include "operation/step_path.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace corozk::detail {

const std::optional<std::string>* attempt_record::known(const std::string& path) const {
    if (auto at = written_.find(path); at != written_.end())
        return &at->second;
    if (auto at = reads_.find(path); at != reads_.end())
        return &at->second.data;
    return nullptr;
}

void attempt_record::saw(const std::string& path, std::string data, std::int32_t version) {
    // Concurrent reads of one path: the first is checked, so the other must be the same.
    read_node& node = reads_.try_emplace(path).first->second;
    if (node.data || !node.missing.empty())
        return;
    node.data = std::move(data);
    node.version = version;
}

void attempt_record::saw_nothing(const std::string& path, std::string missing) {
    read_node& node = reads_.try_emplace(path).first->second;
    if (!node.data && node.missing.empty())
        node.missing = std::move(missing);
}

const std::string* attempt_record::missing(const std::string& path) const {
    auto at = reads_.find(path);
    return at == reads_.end() ? nullptr : &at->second.missing;
}

bool attempt_record::valid(const std::string& path) {
    const char* problem = path_problem(path);
    if (problem && !fault_) {
        fault_ = errc::bad_path;
        fault_text_ = "path \"" + path + "\" " + problem;
    }
    return !fault_;
}

void attempt_record::wrote(const std::string& path, std::optional<std::string> data) {
    written_[path] = std::move(data);
}

void attempt_record::create(std::string path, std::string data, const create_options& options) {
    if (!valid(path))
        return;
    const char* problem = is_sequential(options.mode) ? "the mode must not be sequential"
                                                      : ttl_problem(options.mode, options.ttl);
    if (problem) {
        fault_ = errc::bad_option;
        fault_text_ = "create " + path + ": " + problem;
        return;
    }
    if (!written_.contains(path))
        proofs_.emplace(path, writes_.size());
    wrote(path, data);
    writes_.create(std::move(path), std::move(data), options);
}

void attempt_record::set(std::string path, std::string data) {
    if (!valid(path))
        return;
    wrote(path, data);
    writes_.set(std::move(path), std::move(data));
}

void attempt_record::erase(std::string path) {
    if (!valid(path))
        return;
    wrote(path, std::nullopt);
    writes_.erase(std::move(path));
}

attempt_steps::attempt_steps(const attempt_record& record, bool writes, bool apart) {
    transaction steps;
    std::set<std::string> absent;
    for (const auto& [path, node] : record.reads_) {
        if (node.data)
            steps.check(path, node.version);
        else
            absent.insert(node.missing);
    }
    for (const std::string& path : absent) {
        auto created = record.proofs_.find(path);
        if (writes && !apart && created != record.proofs_.end()) {
            proofs.push_back(created->second);
        } else {
            steps.create(path).erase(path);
        }
    }
    checks = steps.size();
    if (writes)
        steps.append(record.writes_);
    for (std::size_t& proof : proofs)
        proof += checks;
    std::sort(proofs.begin(), proofs.end());
    all = std::move(steps).steps();
}

attempt_verdict attempt_steps::judge(std::size_t failed, const error_code& ec) const {
    if (failed < checks) {
        const bool differs =
            ec == zk_errc::bad_version || ec == zk_errc::no_node || ec == zk_errc::node_exists;
        return differs ? attempt_verdict::conflict : attempt_verdict::error;
    }
    if (ec == zk_errc::node_exists && std::binary_search(proofs.begin(), proofs.end(), failed))
        return attempt_verdict::conflict;
    const bool unproved = !proofs.empty() && proofs.back() > failed;
    return unproved ? attempt_verdict::not_known : attempt_verdict::error;
}

}  // namespace corozk::detail
