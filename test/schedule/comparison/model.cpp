// SPDX-License-Identifier: Apache-2.0
// transcript_model FILE SEEDS STEPS: whether the model makes the same of random operations as the
// real server did.
#include "model/network.hpp"
#include "player.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/time.h>
#include <vector>

namespace {

using namespace corozk;

/// Everything that is on its way arrives, and the C clients hear of it.
void breathe(model::server& s, model::network& n, const std::vector<zhandle_t*>& handles) {
    for (bool moved = true; moved;) {
        moved = false;
        n.take_goodbyes();
        n.settle();
        std::vector<int> ids;
        for (const auto& [id, c] : s.connections())
            ids.push_back(id);
        for (int id : ids) {
            model::connection* c = s.find(id);
            if (!c || c->client_gone)
                continue;
            if (c->asked) {
                s.accept(*c);
            } else if (!c->requests.empty()) {
                s.execute(*c);
            } else if (!c->answers.empty()) {
                n.deliver(id);
            } else {
                continue;
            }
            moved = true;
        }
    }
    for (zhandle_t* zh : handles) {
        int descriptor = -1;
        int events = 0;
        timeval wait{};
        if (zookeeper_interest(zh, &descriptor, &events, &wait) != ZOK)
            continue;
        while (zookeeper_process(zh, ZOOKEEPER_READ) == ZOK) {
        }
    }
}

std::vector<std::string> play(std::uint64_t seed, int steps, bool hides) {
    model::server s;
    if (hides)
        s.hide_unreadable();
    model::network n(s);
    n.clock = [] { return std::int64_t{0}; };
    comparison::world w;
    w.server = "127.0.0.1:1000";
    w.breathe = [&](const std::vector<zhandle_t*>& handles) { breathe(s, n, handles); };
    return comparison::play(w, seed, steps);
}

using lines = std::vector<std::string>;

lines lines_of(std::istream& text) {
    lines result;
    for (std::string line; std::getline(text, line);)
        result.push_back(line);
    return result;
}

struct difference {
    std::size_t same = 0;  ///< lines before it
    std::string text;      ///< empty: there is none
};

difference compare(const lines& real, std::uint64_t seeds, int steps, bool hides) {
    difference d;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        for (const std::string& entry : play(seed, steps, hides)) {
            std::istringstream text(entry);
            for (const std::string& line : lines_of(text)) {
                std::string theirs = d.same < real.size() ? real[d.same] : "";
                if (theirs == line) {
                    ++d.same;
                    continue;
                }
                std::string last = d.same > 0 ? real[d.same - 1] : "";
                d.text = "seed " + std::to_string(seed) + ", after\n  " + last +
                         "\nthe server says\n  " + theirs + "\nand the model\n  " + line + "\n";
                return d;
            }
        }
    }
    if (d.same < real.size())
        d.text = "the server says more: " + real[d.same] + "\n";
    return d;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: transcript_model FILE SEEDS STEPS\n";
        return 2;
    }
    try {
        std::ifstream file(argv[1]);
        const lines real = lines_of(file);
        // A server of one of two kinds.
        difference best;
        for (bool hides : {false, true}) {
            difference d = compare(real, std::stoul(argv[2]), std::stoi(argv[3]), hides);
            if (d.text.empty() && d.same > 0) {
                std::cout << d.same << " lines are the same\n";
                return EXIT_SUCCESS;
            }
            if (best.text.empty() || d.same > best.same)
                best = d;
        }
        std::cerr << best.text;
        return EXIT_FAILURE;
    } catch (const std::exception& e) {
        std::cerr << e.what() << "\n";
        return EXIT_FAILURE;
    }
}
