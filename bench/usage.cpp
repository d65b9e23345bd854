// SPDX-License-Identifier: Apache-2.0
#include "usage.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <sstream>
#include <string>
#include <unistd.h>

namespace corozk::bench {

double usage::process_cpu_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

double usage::process_cpu_seconds(pid_t process) {
    clockid_t its_clock{};
    timespec t{};
    if (::clock_getcpuclockid(process, &its_clock) != 0 || ::clock_gettime(its_clock, &t) != 0)
        return 0;
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

double usage::heap_bytes() {
    struct mallinfo2 info = ::mallinfo2();
    return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

double usage::resident_bytes() {
    ::malloc_trim(0);
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    file >> total >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

std::size_t usage::descriptors() {
    std::filesystem::directory_iterator all("/proc/self/fd");
    // One of them is the iterator's.
    return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;
}

std::size_t usage::threads() {
    return threads(::getpid());
}

std::size_t usage::threads(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("Threads:"))
            return std::stoul(line.substr(8));
    }
    return 0;
}

}  // namespace corozk::bench
