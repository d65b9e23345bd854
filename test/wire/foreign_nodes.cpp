// SPDX-License-Identifier: Apache-2.0
#include "foreign_nodes.hpp"

#include <exception>
#include <vector>

namespace corozk::wire {

namespace {

using testing::admin;

using texts = std::vector<std::string>;

/// Of any program.
texts data_of_others() {
    return {
        "",
        "0",
        "-1",
        "1",
        "2147483648",
        "-2147483648",
        "18446744073709551615",
        "99999999999999999999",
        "not a number",
        "{\"json\": [1, 2, 3]}",
        std::string("\0\0\0\x7f", 4),
        std::string("7\0", 2),
        "\xff\xfe\x80",
        std::string(8, '\xff'),
        std::string(60'000, 'x'),
        std::string(1'000'000, '1'),  // nearly the most that the server takes
    };
}

/// What our recipes write, but for a detail.
texts near_misses_of_ours() {
    return {
        "unlock",
        "ready",
        "abort",
        "commit\nabort\n",
        "commit\n0123456789abcdef\nwhy",
        "corozk two-phase commit 2",
        "corozk two-phase commit 2\nform=all_sites\nguid=x\nsite=../a\n\n",
        "corozk two-phase commit 2\nform=all_sites\nguid=x\nsite=a\nsite=a\n\n",
        "corozk two-phase commit 18446744073709551615\nform=all_sites\n",
        "round=",
        "round=0 size=1 last=1",
        "round=-1 size=1 last=1",
        "round=18446744073709551615 size=4294967295 last=-2147483648",
        std::string("round=1\0size=1 last=1", 21),
        "1\n1\n1\n1\n1\n1\n1\n1\n",
        "12 34 56\nabc:def\n",
        "5 0123456789abcdef 7 0 01234567:3:",
        "5 0123456789abcdef 7 0 01234567:3:18446744073709551615",
        "9223372036854775807 0123456789abcdef 9223372036854775807 0",
        "0000000001-x",
        "0000000001-",
        "18446744073709551615-0123456789abcdef0123456789abcdef",
        "0123456789abcdef0123456789abcdef-member--2147483648",
    };
}

/// A name that is nearly the same, or the same.
std::string near_miss(std::string name, std::mt19937_64& random) {
    auto at = [&] { return name.empty() ? 0 : random() % name.size(); };
    switch (random() % 10) {
        case 0: return name + "0000000000";
        case 1: return name + "-2147483648";
        case 2: return name + "99999999999999999999";
        case 3: name.erase(at()); return name;
        case 4:
            if (!name.empty())
                name[at()] = "-_0aZ\xc3."[random() % 7];
            return name;
        case 5: return name.substr(at());
        case 6: return name + name;
        case 7: return name + "18446744073709551615";
        case 8: return "0000000001-x";
        default: return name;
    }
}

}  // namespace

std::string foreign_data(std::mt19937_64& random) {
    static const std::vector<texts> kinds = {data_of_others(), near_misses_of_ours()};
    const texts& chosen = kinds[random() % kinds.size()];
    return chosen[random() % chosen.size()];
}

void plant_if_possible(admin& hand, const std::string& path, const std::string& data) {
    try {
        hand.plant(path, data);
    } catch (const std::exception&) {
        // It is there, or is no path.
        try {
            hand.set(path, data);
        } catch (const std::exception&) {
        }
    }
}

void plant_near(admin& hand,
                const std::string& folder,
                const std::set<std::string>& below,
                std::mt19937_64& random) {
    for (const std::string& relative : below) {
        std::size_t slash = relative.rfind('/');
        bool folder_itself = slash == std::string::npos;
        std::string parent = folder_itself ? folder : folder + relative.substr(0, slash);
        std::string name = folder_itself ? std::string() : relative.substr(slash + 1);
        for (int i = 0; i < 3; ++i) {
            std::string path = folder_itself ? folder : parent + "/" + near_miss(name, random);
            plant_if_possible(hand, path, foreign_data(random));
        }
    }
}

}  // namespace corozk::wire
