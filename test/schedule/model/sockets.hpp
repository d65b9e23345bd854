// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corozk::model {

/// Called where Asio would sleep, for so many ms (negative: for ever), as nothing is ready.
extern void (*when_idle)(int for_ms);

}  // namespace corozk::model
