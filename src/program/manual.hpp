// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace corozk::program {

/// The manual page in the format of man(7), generated from the help of all commands.
std::string manual(const CLI::App& app);

}  // namespace corozk::program
