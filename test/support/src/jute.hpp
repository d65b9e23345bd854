// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "wire/jute.hpp"

namespace corozk::testing::detail {

using corozk::detail::framed;
using corozk::detail::jute_reader;
using corozk::detail::jute_writer;

}  // namespace corozk::testing::detail
