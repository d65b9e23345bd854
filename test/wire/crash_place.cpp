// SPDX-License-Identifier: Apache-2.0
#include "crash_place.hpp"

#include "crash_report.hpp"
#include <corozk/testing/process_guard.hpp>
#include <corozk/testing/temporary_directory.hpp>

#include <chrono>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <vector>

namespace corozk::wire {

namespace {

using namespace std::chrono_literals;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

bool contains_one_of(const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) {
        if (text.find(part) != text.npos)
            return true;
    }
    return false;
}

bool in_c_library(const std::string& frame) {
    return frame.find("/libc.so") != frame.npos;
}

/// What anybody calls, and so says nothing about who was wrong.
bool is_common(const std::string& frame) {
    return in_c_library(frame) || frame.starts_with("std::") || frame.starts_with("__gnu_cxx::") ||
           contains_one_of(frame,
                           {"/libstdc++.so",
                            "/libgcc_s.so",
                            "/ld-linux",
                            "__asan::",
                            "__tsan::",
                            "__sanitizer::",
                            "_interceptor_",
                            "/libasan.so",
                            "/libtsan.so"});
}

bool in_c_client(const std::string& frame) {
    return frame.find("libzookeeper") != frame.npos;
}

/// Of report_crashes(): the handler comes first, and the C library has called it.
std::vector<std::string> frames_of_handler(const std::string& stack) {
    std::vector<std::string> frames;
    bool behind_the_handler = false;
    for (const std::string& line : lines_of(stack)) {
        if (behind_the_handler && !is_common(line))
            frames.push_back(line);
        behind_the_handler |= in_c_library(line);
    }
    return frames;
}

/// What the signal has interrupted; with what is common, such as the C library's `free`.
std::string first_behind_handler(const std::string& output) {
    std::size_t stack = output.find(testing::crash_head);
    if (stack == output.npos)
        return std::string();
    bool behind_the_handler = false;
    for (const std::string& line : lines_of(output.substr(stack))) {
        if (behind_the_handler)
            return line;
        behind_the_handler = in_c_library(line);
    }
    return std::string();
}

/// `module(+0x10)[0x5561]`: with a name in front of the plus where there is one.
bool in_nameless_function(const std::string& frame) {
    return in_c_client(frame) && frame.find("(+0x") != frame.npos;
}

bool asserts(const std::string& output, const std::string& what) {
    return output.find(": " + what + " failed.") != output.npos;
}

/// `#3 0x5561 in function file:line`, or with the module in place of what is not known. The
/// sanitizer's own functions have neither of our names.
std::vector<std::string> frames_of_sanitizer(const std::string& stack) {
    std::vector<std::string> frames;
    for (const std::string& line : lines_of(stack)) {
        std::size_t at = line.find(" in ");
        std::string frame = at == line.npos ? line : line.substr(at + 4);
        bool ours = contains_one_of(frame, {"corozk::", "boost::"});
        if (!is_common(frame) && (ours || in_c_client(frame)))
            frames.push_back(frame);
    }
    return frames;
}

/// `module(function+0x10)[0x5561]`, `function (module+0x10)`, or `#3 0x5561 (module+0x10)`.
std::string short_name(std::string frame) {
    if (frame.starts_with("/") || frame.starts_with(" "))
        frame = frame.substr(frame.rfind('/') + 1);
    return frame.substr(0, frame.find_first_of("[ "));
}

}  // namespace

std::string place_in_c_client(const std::string& output) {
    std::size_t stack = output.find(testing::crash_head);
    bool sanitizer = stack == output.npos;
    if (sanitizer)
        stack = output.find("    #0 ");
    if (stack == output.npos)
        return std::string();
    std::vector<std::string> frames = sanitizer ? frames_of_sanitizer(output.substr(stack))
                                                : frames_of_handler(output.substr(stack));
    if (frames.empty() || !in_c_client(frames.front()))
        return std::string();
    return short_name(frames.front());
}

c_client_end how_c_client_ended(const std::string& output) {
    if (place_in_c_client(output).empty())
        return c_client_end::elsewhere;
    if (asserts(output, "zookeeper_process: Assertion `cptr'"))
        return c_client_end::nobody_waits;
    if (asserts(output, "deserialize_multi: Assertion `entry'"))
        return c_client_end::no_result_wanted;
    bool wrong_access = in_nameless_function(first_behind_handler(output));
    return wrong_access ? c_client_end::wrong_access : c_client_end::elsewhere;
}

std::string with_function_names(const std::string& output, const std::string& program) {
    // `program(+0x12)[...]`, or a sanitizer's `(program+0x12)`.
    const std::string own_frame = program.substr(program.rfind('/') + 1);
    testing::process_options options;
    options.command = {"addr2line", "-C", "-f", "-p", "-e", program};
    std::vector<std::string> lines = lines_of(output);
    std::vector<std::size_t> resolved;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::size_t at = lines[i].find(own_frame);
        if (at == std::string::npos)
            continue;
        std::size_t begin = lines[i].find("0x", at);
        std::size_t end = lines[i].find(')', at);
        if (begin < end && end != std::string::npos) {
            options.command.push_back(lines[i].substr(begin, end - begin));
            resolved.push_back(i);
        }
    }
    if (resolved.empty())
        return output;
    testing::temporary_directory folder;
    options.output = folder.path() / "names";
    try {
        testing::process_guard names(options);
        if (!names.wait(60s))
            names.kill();
    } catch (const std::exception&) {
        return output;  // no such program here
    }
    std::ifstream file(options.output);
    for (std::size_t i : resolved) {
        std::string name;
        if (!std::getline(file, name) || name.starts_with("??"))
            continue;
        std::size_t number = lines[i].find(" 0x");  // a sanitizer's line
        bool numbered = lines[i].starts_with("    #") && number != lines[i].npos;
        lines[i] = numbered ? lines[i].substr(0, number) + " in " + name : name;
    }
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    return text;
}

}  // namespace corozk::wire
