// SPDX-License-Identifier: Apache-2.0
#include "session/subtree.hpp"

#include "session/session.hpp"

#include <utility>

namespace corozk::detail {

void subtree::connect(user_call<> call) {
    whole_.connect(std::move(call));
}

void subtree::close(user_call<> call, bool leaving) {
    whole_.close(std::move(call), leaving);
}

void subtree::next_state(const session_status& seen, user_call<session_status> call) {
    whole_.next_state(seen, std::move(call));
}

void subtree::add_auth(auth_info auth) {
    whole_.add_auth(std::move(auth));
}

error_code subtree::set_hosts(const std::string& hosts) {
    return whole_.set_hosts(hosts);
}

client_counters subtree::snapshot() const {
    return whole_.snapshot();
}

session_credentials subtree::credentials() const {
    return whole_.credentials();
}

const client_options& subtree::options() const noexcept {
    return whole_.options();
}

const session_status& subtree::look() {
    return whole_.look();
}

void subtree::release() noexcept {
    if (made_it_)
        whole_.release();
}

std::shared_ptr<session_view> subtree::below(std::string_view path) {
    return whole_.below(root_.absolute(path));
}

void subtree::start(operation& op) noexcept {
    root_.enter(op);
    whole_.start(op);
}

bool subtree::withdraw(operation& op) noexcept {
    if (!whole_.withdraw(op))
        return false;
    path_root::leave(op);
    return true;
}

void subtree::defer(deferred& d) noexcept {
    whole_.defer(d);
}

void subtree::complete(completion handler) {
    whole_.complete(std::move(handler));
}

void subtree::start_timer(timer_node& timer, time_point when) noexcept {
    whole_.start_timer(timer, when);
}

time_point subtree::now() const noexcept {
    return whole_.now();
}

const session_status& subtree::status() const noexcept {
    return whole_.status();
}

time_point subtree::expiry_deadline() const noexcept {
    return whole_.expiry_deadline();
}

std::shared_ptr<void> subtree::keep_alive() noexcept {
    return whole_.keep_alive();
}

void subtree::subscribe(session_observer& observer) noexcept {
    whole_.subscribe(observer);
}

void subtree::watch_dropped(watch_kind kind, const std::string& path) noexcept {
    whole_.watch_dropped(kind, root_.absolute(path));
}

std::string subtree::new_guid() {
    return whole_.new_guid();
}

client_counters& subtree::counters() noexcept {
    return whole_.counters();
}

std::size_t subtree::max_request_size() const noexcept {
    return whole_.max_request_size();
}

boost::asio::any_io_executor subtree::executor() const {
    return whole_.executor();
}

bool subtree::logs(log_level level) const noexcept {
    return whole_.logs(level);
}

void subtree::log(log_level level, std::string_view text) noexcept {
    whole_.log(level, text);
}

port& subtree::whole() noexcept {
    return whole_;
}

}  // namespace corozk::detail
