// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace corozk::bench {

/// Whose lock it is, where the data that it protects is, and what keeps a late owner's write away.
struct protection {
    std::string_view system;
    std::string_view store;
    std::string_view guard;
    bool safe;  ///< whether no update may be lost

    std::string name() const;

    /// For people.
    std::string store_title() const;
    std::string guard_title() const;
};

/// Without a guard first: it shows that the experiment can fail.
inline constexpr std::array protections{
    protection{"corozk", "file", "none", false},
    protection{"corozk", "file", "valid", false},
    protection{"corozk", "file", "token", true},
    protection{"corozk", "znode", "none", false},
    protection{"corozk", "znode", "commit", true},
    protection{"curator", "file", "none", false},
    protection{"curator", "file", "valid", false},
    protection{"curator", "znode", "none", false},
    protection{"curator", "znode", "check", true},
    protection{"etcd", "file", "none", false},
    protection{"etcd", "file", "token", true},
    protection{"etcd", "key", "none", false},
    protection{"etcd", "key", "transaction", true},
    protection{"redis", "file", "none", false},
    protection{"redis", "key", "none", false},
    protection{"redis", "key", "script", true},
};

/// @throws std::logic_error if there is none of this name
const protection& find_protection(std::string_view name);

}  // namespace corozk::bench
