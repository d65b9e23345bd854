// SPDX-License-Identifier: Apache-2.0
// Handlers whose memory is counted, and which can be cancelled.
#pragma once

#include <corozk/error.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace corozk::testing {

struct tracked_handler {
    std::string operation;
    int blocks = 0;       ///< ever allocated by its allocator
    int live_blocks = 0;  ///< not freed
    int calls = 0;
    bool called_in_time = true;  ///< when all blocks were free
    boost::asio::cancellation_signal cancel;
};

template <class T>
struct counting_allocator {
    using value_type = T;

    explicit counting_allocator(std::shared_ptr<tracked_handler> h) : handler(std::move(h)) {}
    template <class U>
    counting_allocator(const counting_allocator<U>& other) : handler(other.handler) {}
    template <class U>
    bool operator==(const counting_allocator<U>& other) const {
        return handler == other.handler;
    }

    T* allocate(std::size_t n) {
        ++handler->blocks;
        ++handler->live_blocks;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* block, std::size_t n) {
        --handler->live_blocks;
        std::allocator<T>().deallocate(block, n);
    }

    std::shared_ptr<tracked_handler> handler;
};

class tracked_handlers {
public:
    template <class Function>
    auto track(std::string operation, Function called) {
        auto h = std::make_shared<tracked_handler>();
        h->operation = std::move(operation);
        all_.push_back(h);
        auto handler = [h, called](error_code ec, auto&&...) mutable {
            ++h->calls;
            h->called_in_time = h->called_in_time && h->live_blocks == 0;
            called(ec);
        };
        return boost::asio::bind_cancellation_slot(
            h->cancel.slot(),
            boost::asio::bind_allocator(counting_allocator<void>(h), std::move(handler)));
    }
    auto track(std::string operation) {
        return track(std::move(operation), [](error_code) {});
    }

    void cancel() {
        for (auto& h : all_)
            h->cancel.emit(boost::asio::cancellation_type::terminal);
    }

    bool all_called() const {
        for (const auto& h : all_) {
            if (h->calls == 0)
                return false;
        }
        return true;
    }

    const std::vector<std::shared_ptr<tracked_handler>>& all() const { return all_; }

private:
    std::vector<std::shared_ptr<tracked_handler>> all_;
};

}  // namespace corozk::testing
