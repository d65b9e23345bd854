// SPDX-License-Identifier: Apache-2.0
#include "network/quorum_question.hpp"

#include <span>
#include <string>
#include <utility>

namespace corozk::detail {

quorum_question::~quorum_question() {
    if (stream_)
        stream_->close();
}

void quorum_question::ask(stream_factory& streams,
                          const std::string& name,
                          std::function<void(const endpoint&)> yes) {
    yes_ = std::move(yes);
    stream_ = streams.make(
        name, [this] { go_on(); }, unusable_);
    if (stream_)
        stream_->connect(server_);
}

bool quorum_question::is_yes() const noexcept {
    using answer = std::array<unsigned char, 2>;
    if (demand_ == demand::quorum || received_ < answer_.size())
        return answer_ == answer{'r', 'w'};
    // "null" is that of a server which has no quorum and does not even read.
    return answer_ != answer{'r', 'o'} && answer_ != answer{'n', 'u'};
}

std::string quorum_question::problem() const {
    if (!stream_)
        return unusable_;
    if (received_ == answer_.size())
        return "it has no quorum";
    return stream_->ended() ? stream_->problem() : std::string();
}

void quorum_question::go_on() {
    static constexpr std::array<unsigned char, 4> question{'i', 's', 'r', 'o'};
    if (!stream_->connected())
        return;
    if (!std::exchange(asked_, true))
        stream_->write(question);
    while (stream_->input() && received_ < answer_.size()) {
        std::size_t n = stream_->read(std::span(answer_).subspan(received_));
        if (n == 0)
            break;
        received_ += n;
    }
    if (is_yes()) {
        // This object is destroyed in there.
        auto yes = std::move(yes_);
        return yes(endpoint(server_));
    }
    stream_->wait_for_input();
}

}  // namespace corozk::detail
