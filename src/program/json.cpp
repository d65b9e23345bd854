// SPDX-License-Identifier: Apache-2.0
// Boost.JSON, compiled here: the package of headers brings no library.
#include <boost/json/src.hpp>
