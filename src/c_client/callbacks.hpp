// SPDX-License-Identifier: Apache-2.0
// The callbacks of the C client. They only record what has arrived in the inbox: the relay has
// checked it.
#pragma once

#include <zookeeper/zookeeper.h>

namespace corozk::detail {

// The requests' completions: `data` is the operation.
void on_void(int rc, const void* data);
void on_stat(int rc, const Stat* s, const void* data);
void on_data(int rc, const char* value, int size, const Stat* s, const void* data);
void on_children(int rc, const String_vector* names, const Stat* s, const void* data);

/// Watch and session events: `context` is the inbox.
void on_watch(zhandle_t*, int type, int state, const char* path, void* context);

}  // namespace corozk::detail
