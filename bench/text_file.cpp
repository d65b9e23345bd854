// SPDX-License-Identifier: Apache-2.0
#include "text_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace corozk::bench {

std::string read_text(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream stream(file, std::ios::trunc);
    stream << text;
    if (!stream.flush())
        throw std::runtime_error("cannot write " + file.string() + ": " + std::strerror(errno));
}

}  // namespace corozk::bench
