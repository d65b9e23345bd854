// SPDX-License-Identifier: Apache-2.0
// Included before everything else, by a compiler option, where COROZK_IO_URING is on.
//
// Boost.Asio (1.81, and still 1.88) does not say whose the completion of a cancellation is, and
// liburing (2.3) leaves there what the request before it in the same place of the ring said. After
// 16,384 requests a cancellation thus completes some other operation: an accept with descriptor 0.
#pragma once

#if defined(BOOST_ASIO_HAS_IO_URING)

#include <liburing.h>

inline void corozk_io_uring_prep_cancel(io_uring_sqe* request, void* what, int flags) {
    io_uring_prep_cancel(request, what, flags);
    io_uring_sqe_set_data(request, nullptr);
}

inline void corozk_io_uring_prep_timeout_remove(io_uring_sqe* request, __u64 what, unsigned flags) {
    io_uring_prep_timeout_remove(request, what, flags);
    io_uring_sqe_set_data(request, nullptr);
}

#define io_uring_prep_cancel corozk_io_uring_prep_cancel
#define io_uring_prep_timeout_remove corozk_io_uring_prep_timeout_remove

#endif
