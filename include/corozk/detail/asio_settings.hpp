// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/detail/build_settings.hpp>

#include <boost/asio/detail/config.hpp>

// An installed package says what it was compiled with, as 1000 * major + minor version.
#if defined(COROZK_BOOST_VERSION)

#if BOOST_VERSION / 100000 * 1000 + BOOST_VERSION / 100 % 1000 != COROZK_BOOST_VERSION
#error \
    "corozk: the library was compiled with another minor version of Boost, which changes Boost.Asio's classes; compile both with the same one"
#endif

#endif

// The settings of Boost.Asio; see build_settings.hpp.
#if !defined(COROZK_SAME_SETTINGS)

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
