// SPDX-License-Identifier: Apache-2.0
#include "compare/peer_kind.hpp"

#include "text_file.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace corozk::bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* java = "/usr/bin/java";
constexpr const char* javac = "/usr/bin/javac";
constexpr const char* python = "/usr/bin/python3";  // Debian's, which finds Debian's packages

constexpr auto compile_limit = std::chrono::seconds(120);

constexpr std::array<std::string_view, 3> shared_sources{
    "Protocol.java", "Crowd.java", "Loops.java"};

/// What every Java peer needs besides.
constexpr std::array<std::string_view, 4> shared_jars{
    "zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-nop"};

fs::path jar_directory() {
    const char* given = std::getenv("COROZK_TEST_JARS");
    return given ? given : "/usr/share/java";
}

fs::path source_directory() {
    return COROZK_BENCH_PEERS_DIR;
}

std::vector<std::string_view> jars_of(const peer_kind& peer) {
    std::vector<std::string_view> jars = peer.jars;
    jars.insert(jars.end(), shared_jars.begin(), shared_jars.end());
    return jars;
}

bool is_java(const peer_kind& peer) {
    return !peer.jars.empty();
}

/// Runs it to its end. @return its exit code, or -1
int run(std::vector<std::string> words, const fs::path& output) {
    testing::process_options options;
    options.command = std::move(words);
    options.output = output;
    testing::process_guard process(options);
    if (!process.wait(compile_limit))
        return -1;
    return process.exit_status().value_or(-1);
}

bool fresh(const fs::path& classes, const std::vector<fs::path>& sources) {
    std::error_code none;
    auto made = fs::last_write_time(classes, none);
    return !none && std::all_of(sources.begin(), sources.end(), [&](const fs::path& source) {
        return fs::last_write_time(source) < made;
    });
}

/// Compiles elsewhere first: two programs may do this at the same time.
void compile(const peer_kind& peer, const std::string& class_path, const fs::path& classes) {
    std::vector<fs::path> sources;
    for (auto name : shared_sources)
        sources.push_back(source_directory() / name);
    sources.push_back(source_directory() / fmt::format("{}.java", peer.source));
    if (fresh(classes, sources))
        return;
    fs::path work = fmt::format("{}.{}", classes.string(), ::getpid());
    fs::create_directories(work);
    testing::temporary_directory notes;
    std::vector<std::string> words{javac, "-nowarn", "-cp", class_path, "-d", work};
    for (const auto& source : sources)
        words.push_back(source);
    if (run(words, notes.path() / "log") != 0) {
        fs::remove_all(work);
        throw std::runtime_error(fmt::format(
            "cannot compile {}.java:\n{}", peer.source, read_text(notes.path() / "log")));
    }
    std::error_code none;
    fs::remove_all(classes, none);
    fs::rename(work, classes, none);
    if (none)
        fs::remove_all(work, none);  // somebody was quicker
}

/// From "NAME-VERSION.jar", which Debian has beside NAME.jar.
std::string version_of(std::string_view jar) {
    std::string begin = fmt::format("{}-", jar);
    for (const auto& entry : fs::directory_iterator(jar_directory())) {
        std::string name = entry.path().stem().string();
        if (entry.path().extension() != ".jar" || !name.starts_with(begin))
            continue;
        std::string rest = name.substr(begin.size());
        if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9')
            return rest;
    }
    return {};
}

peer_program prepare_java(const peer_kind& peer) {
    peer_program program;
    if (::access(java, X_OK) != 0 || ::access(javac, X_OK) != 0) {
        program.missing = "needs a Java compiler: Debian's package default-jdk-headless";
        return program;
    }
    std::string class_path;
    for (auto name : jars_of(peer)) {
        fs::path jar = jar_directory() / fmt::format("{}.jar", name);
        if (!fs::exists(jar)) {
            program.missing =
                fmt::format("not installed ({}): Debian's package {}", jar.string(), peer.package);
            return program;
        }
        class_path += (class_path.empty() ? "" : ":") + jar.string();
    }
    fs::path classes = fs::path(COROZK_BENCH_CLASSES_DIR) / peer.name;
    compile(peer, class_path, classes);
    program.version = version_of(peer.jars.front());
    program.words = {java, "-cp", classes.string() + ":" + class_path, std::string(peer.source)};
    return program;
}

peer_program prepare_python(const peer_kind& peer) {
    peer_program program;
    if (::access(python, X_OK) != 0) {
        program.missing = "needs Python: Debian's package python3";
        return program;
    }
    if (run({python, "-c", fmt::format("import {}", peer.name)}, {}) != 0) {
        program.missing = fmt::format("not installed: Debian's package {}", peer.package);
        return program;
    }
    program.words = {python, source_directory() / peer.source};
    return program;
}

}  // namespace

std::span<const peer_kind> all_peers() {
    static const std::array peers{
        peer_kind{"curator",
                  "Curator",
                  "CuratorPeer",
                  {"curator-recipes", "curator-framework", "curator-client", "guava"},
                  "libcurator-recipes-java"},
        peer_kind{"kazoo", "Kazoo", "kazoo_peer.py", {}, "python3-kazoo"},
        peer_kind{
            "zookeeper",
            "ZooKeeper's recipes",
            "ZooKeeperPeer",
            {"zookeeper-recipes-lock", "zookeeper-recipes-election", "zookeeper-recipes-queue"},
            "libzookeeper-java"},
    };
    return peers;
}

const peer_kind& find_peer(std::string_view name) {
    auto peers = all_peers();
    auto at = std::find_if(
        peers.begin(), peers.end(), [name](const peer_kind& p) { return p.name == name; });
    if (at == peers.end())
        throw std::logic_error("no such peer: " + std::string(name));
    return *at;
}

peer_program prepare_peer(const peer_kind& peer) {
    return is_java(peer) ? prepare_java(peer) : prepare_python(peer);
}

}  // namespace corozk::bench
