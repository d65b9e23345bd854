// SPDX-License-Identifier: Apache-2.0
// The fuzz targets without a fuzzer: the corpus, and random changes of it.
#include "targets.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace {

using corozk::fuzz::target;

std::vector<std::string> corpus_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<std::string> inputs;
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return inputs;
}

/// One of the corpus with a few changes, or a cross of two.
std::string changed(const std::vector<std::string>& corpus, std::mt19937_64& random) {
    static const std::string telling = "0123456789abcdef-_/:,[] \n=.+x\x7f\xff\0";
    auto one = [&]() -> const std::string& { return corpus[random() % corpus.size()]; };
    std::string text = one();
    for (std::uint64_t i = random() % 4 + 1; i > 0; --i) {
        std::size_t at = text.empty() ? 0 : random() % text.size();
        char c = random() % 3 ? telling[random() % telling.size()] : static_cast<char>(random());
        switch (random() % 6) {
            case 0: text.insert(at, 1, c); break;
            case 1:
                if (!text.empty())
                    text[at] = c;
                break;
            case 2: text.erase(at, random() % 4 + 1); break;
            case 3:
                text.insert(at, text.substr(random() % (text.size() + 1), random() % 12));
                break;
            case 4: {
                const std::string& other = one();
                text = text.substr(0, at) + other.substr(random() % (other.size() + 1));
                break;
            }
            default: text += '\n' + one();
        }
        if (text.size() > 4'096)
            text.resize(4'096);
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "usage: test_fuzz CORPUS [CHANGES [SEED]]\n";
        return 2;
    }
    std::filesystem::path corpus = argv[1];
    std::size_t changes = argc > 2 ? std::stoul(argv[2]) : 20'000;
    std::uint64_t seed = argc > 3 ? std::stoull(argv[3]) : 1;
    try {
        for (const target& t : corozk::fuzz::all_targets()) {
            std::vector<std::string> inputs = corpus_of(corpus / t.name);
            if (inputs.empty()) {
                std::cerr << t.name << ": no corpus\n";
                return EXIT_FAILURE;
            }
            for (const std::string& input : inputs)
                t.run(input);
            std::mt19937_64 random(seed);
            for (std::size_t i = 0; i < changes; ++i)
                t.run(changed(inputs, random));
            std::cout << t.name << ": " << inputs.size() << " of the corpus, " << changes
                      << " changed\n";
        }
    } catch (const std::exception& e) {
        std::cerr << "threw: " << e.what() << "\n";
        return EXIT_FAILURE;
    }
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    constexpr long limit_kb = 1'000'000;  // with a sanitizer's share
    std::cout << "memory: " << usage.ru_maxrss << " KiB\n";
    return usage.ru_maxrss < limit_kb ? EXIT_SUCCESS : EXIT_FAILURE;
}
