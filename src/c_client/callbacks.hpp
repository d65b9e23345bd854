// SPDX-License-Identifier: Apache-2.0
// What the C client calls. Each notes down what has come, in the inbox, and does nothing else.
#pragma once

#include <zookeeper/zookeeper.h>

namespace corozk::detail {

// The requests' completions: `data` is the operation.
void on_void(int rc, const void* data);
void on_string(int rc, const char*, const void* data);
void on_created(int rc, const char* path, const Stat* s, const void* data);
void on_stat(int rc, const Stat* s, const void* data);
void on_data(int rc, const char* value, int size, const Stat* s, const void* data);
void on_children(int rc, const String_vector* names, const Stat* s, const void* data);
void on_acl(int rc, ACL_vector* list, Stat* s, const void* data);
void on_multi(int rc, const void* data);

/// Watches and the states of the session: `context` is the inbox.
void on_watch(zhandle_t*, int type, int state, const char* path, void* context);

/// Of an answer that ends early the C client hands over, and frees, what stood on its stack where
/// the rest should have come to stand. Called right before it takes answers apart, this makes it
/// zeroes: harmless, and to be told from what was read. The C client's frames need a few hundred
/// bytes (Debian's build, 3.8.0).
void leave_zeroes_on_the_stack() noexcept;

}  // namespace corozk::detail
