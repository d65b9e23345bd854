// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace corozk::schedule {

/// Has this program say which schedule it has crashed in, or which takes too long: that is a failure, too.
void tell_crashes();

}  // namespace corozk::schedule
