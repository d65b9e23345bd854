// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace corozk::program {

/// The manual page, in the language of man(7), made of the help of all commands.
std::string manual(const CLI::App& app);

}  // namespace corozk::program
