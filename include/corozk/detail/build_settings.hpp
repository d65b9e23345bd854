// SPDX-License-Identifier: Apache-2.0
#pragma once

// The library and a program share classes of the standard library and of Boost.Asio (see
// asio_settings.hpp). Settings that change their layout are rejected in both, because a mixture
// would compile and crash.

#if !defined(__cpp_exceptions)
#error "corozk: compile with exceptions (without -fno-exceptions)"
#endif

#if !defined(__cpp_rtti)
#error "corozk: compile with run-time type information (without -fno-rtti)"
#endif

#if __cplusplus < 202002L || !defined(__cpp_impl_coroutine)
#error "corozk: compile as C++20 with coroutines (-std=c++20)"
#endif

// Defined by programs whose library was compiled with the same settings.
#if !defined(COROZK_SAME_SETTINGS)

#if defined(_GLIBCXX_DEBUG)
#error \
    "corozk: _GLIBCXX_DEBUG changes the standard library's classes; if the library was compiled with it, too, define COROZK_SAME_SETTINGS"
#endif

#endif
