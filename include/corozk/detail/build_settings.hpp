// SPDX-License-Identifier: Apache-2.0
#pragma once

// The library and a program share classes of Boost.Asio's. Settings that change what is in these are
// refused in both, so that they cannot differ: a mixture compiles, and crashes.

#if !defined(__cpp_exceptions)
#error "corozk: compile with exceptions (without -fno-exceptions)"
#endif

#if !defined(__cpp_rtti)
#error "corozk: compile with run-time type information (without -fno-rtti)"
#endif

#if __cplusplus < 202002L || !defined(__cpp_impl_coroutine)
#error "corozk: compile as C++20 with coroutines (-std=c++20)"
#endif

// Whoever compiles the library with the same ones may say so.
#if !defined(COROZK_SAME_SETTINGS)

#if defined(_GLIBCXX_DEBUG)
#error \
    "corozk: _GLIBCXX_DEBUG changes the standard library's classes; if the library was compiled with it, too, define COROZK_SAME_SETTINGS"
#endif

#include <boost/asio/detail/config.hpp>

#if !defined(BOOST_ASIO_HAS_THREADS) || defined(BOOST_ASIO_NO_TYPEID) ||                          \
    defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING) || defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) || \
    defined(BOOST_ASIO_USE_TS_EXECUTOR_AS_DEFAULT) || defined(BOOST_ASIO_HAS_IO_URING) ||         \
    (defined(__linux__) &&                                                                        \
     (!defined(BOOST_ASIO_HAS_EPOLL) || !defined(BOOST_ASIO_HAS_EVENTFD))) ||                     \
    defined(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING) ||                                          \
    defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING) ||                                      \
    (defined(BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE) &&                                        \
     BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE != 2) ||                                           \
    !defined(BOOST_ASIO_HAS_STD_EXCEPTION_PTR) || !defined(BOOST_ASIO_HAS_STD_ALIGNED_ALLOC) ||   \
    !defined(BOOST_ASIO_HAS_STD_ATOMIC) || !defined(BOOST_ASIO_HAS_STD_CHRONO) ||                 \
    !defined(BOOST_ASIO_HAS_STD_FUNCTION) || !defined(BOOST_ASIO_HAS_STD_MUTEX_AND_CONDVAR) ||    \
    !defined(BOOST_ASIO_HAS_STD_SHARED_PTR) || !defined(BOOST_ASIO_HAS_STD_SYSTEM_ERROR) ||       \
    !defined(BOOST_ASIO_HAS_STD_THREAD)
#error \
    "corozk: a BOOST_ASIO_ setting changes Boost.Asio's classes (threads, epoll or io_uring, handler tracking, executors, recycling of memory, the standard library's types); if the library was compiled with it, too, define COROZK_SAME_SETTINGS"
#endif

#endif
