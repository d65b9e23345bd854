// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/build_settings.hpp>

// COROZK_DECL marks the symbols that the shared library exports; all others are hidden.
#if defined(COROZK_SHARED)
#define COROZK_DECL __attribute__((visibility("default")))
#else
#define COROZK_DECL
#endif
