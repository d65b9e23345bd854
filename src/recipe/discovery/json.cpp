// SPDX-License-Identifier: Apache-2.0
// Boost.JSON, compiled here: Boost's package of headers brings no library. In an object file of its
// own: a program that links a static corozk and has Boost.JSON itself uses its own.
#include <boost/json/src.hpp>
