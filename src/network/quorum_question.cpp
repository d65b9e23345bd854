// SPDX-License-Identifier: Apache-2.0
#include "network/quorum_question.hpp"

#include <array>
#include <string>
#include <utility>

namespace corozk::detail {

quorum_question::~quorum_question() {
    if (stream_)
        stream_->close();
}

void quorum_question::ask(stream_factory& streams,
                          const server_names& names,
                          std::function<void(const endpoint&)> yes) {
    yes_ = std::move(yes);
    stream_ = streams.make(names, [this] { go_on(); });
    stream_->connect(server_);
}

server_mode quorum_question::mode() const noexcept {
    return to_server_mode(response_, stream_->ended());
}

bool quorum_question::is_yes() const noexcept {
    const server_mode said = mode();
    return said == server_mode::has_quorum ||
           (said == server_mode::unwilling && demand_ == demand::presence);
}

std::string quorum_question::problem() const {
    switch (mode()) {
        case server_mode::no_quorum: return "it has no quorum";
        case server_mode::unwilling:
            return "it does not say whether it has a quorum (srvr is not in its whitelist)";
        case server_mode::foreign: return "it does not respond as a ZooKeeper server does";
        default: return stream_->ended() ? stream_->problem() : std::string();
    }
}

void quorum_question::go_on() {
    static constexpr std::array<unsigned char, 4> question{'s', 'r', 'v', 'r'};
    if (!stream_->connected())
        return;
    if (!std::exchange(asked_, true))
        stream_->write(question);
    std::array<unsigned char, 512> piece;
    while (stream_->input() && mode() == server_mode::unknown) {
        const std::size_t n = stream_->read(piece);
        if (n == 0)
            break;
        response_.append(piece.begin(), piece.begin() + n);
    }
    if (is_yes()) {
        // This object is destroyed in there.
        auto yes = std::move(yes_);
        return yes(endpoint(server_));
    }
    stream_->wait_for_input();
}

}  // namespace corozk::detail
