// SPDX-License-Identifier: Apache-2.0
#include "facts.hpp"

#include "table.hpp"
#include <corozk/version.hpp>

#include <boost/version.hpp>

#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <string_view>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

namespace corozk::bench {

namespace {

/// The rest of the first line of a file that begins with these letters.
std::string line_of(const char* path, std::string_view begin) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(begin))
            continue;
        auto at = line.find_first_not_of(" \t:=\"", begin.size());
        if (at == line.npos)
            return {};
        line = line.substr(at);
        if (!line.empty() && line.back() == '"')
            line.pop_back();
        return line;
    }
    return {};
}

std::string compiler() {
#if defined(__clang__)
    return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string build_type() {
#if defined(NDEBUG) && defined(__OPTIMIZE__)
    return "optimised";
#elif defined(__OPTIMIZE__)
    return "optimised, with assertions";
#else
    return "not optimised";
#endif
}

double memory_bytes() {
    return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
           static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::string kernel() {
    utsname name{};
    ::uname(&name);
    return fmt::format("{} {}", name.sysname, name.release);
}

std::string now_text() {
    std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace

boost::json::object machine_facts() {
    boost::json::object facts;
    facts["date"] = boost::json::string(now_text());
    facts["corozk"] = boost::json::string(version());
    facts["c_client"] = boost::json::string(c_client_version());
    facts["boost"] = boost::json::string(fmt::format(
        "{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100));
    facts["compiler"] = boost::json::string(compiler());
    facts["build"] = boost::json::string(build_type());
    facts["system"] = boost::json::string(line_of("/etc/os-release", "PRETTY_NAME"));
    facts["kernel"] = boost::json::string(kernel());
    facts["cores"] = std::thread::hardware_concurrency();
    facts["processor"] = boost::json::string(line_of("/proc/cpuinfo", "model name"));
    facts["memory_bytes"] = static_cast<std::int64_t>(memory_bytes());
    return facts;
}

std::string machine_line() {
    return fmt::format("{} cores ({}), {} memory, {}, {}",
                       std::thread::hardware_concurrency(),
                       line_of("/proc/cpuinfo", "model name"),
                       fmt::format("{:.0f} GB", memory_bytes() / 1e9),
                       line_of("/etc/os-release", "PRETTY_NAME"),
                       compiler());
}

}  // namespace corozk::bench
