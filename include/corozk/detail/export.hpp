// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/build_settings.hpp>

// COROZK_DECL marks what the shared library exports; everything else is hidden.
#if defined(COROZK_SHARED)
#define COROZK_DECL __attribute__((visibility("default")))
#else
#define COROZK_DECL
#endif
