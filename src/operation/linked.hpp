// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/intrusive/list_hook.hpp>

namespace corozk::detail {

/// What can be in a list. Unlinks itself when destroyed.
class linked : public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    linked(const linked&) = delete;
    linked& operator=(const linked&) = delete;

protected:
    linked() = default;
    ~linked() = default;
};

}  // namespace corozk::detail
