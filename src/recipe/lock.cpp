// SPDX-License-Identifier: Apache-2.0
#include <corozk/recipe/lock.hpp>

#include "block/inspection.hpp"
#include "block/line.hpp"
#include "recipe/lock_algo.hpp"
#include "session/path.hpp"
#include "session/session.hpp"

namespace corozk {

namespace detail {

namespace {

naming make_naming(lock_naming style) {
    switch (style) {
        case lock_naming::standard: return naming("", {"-lock-"});
        case lock_naming::curator: {
            naming n("_c_", {"-lock-"});
            n.dashed_guid = true;
            n.foreign_infixes = {"lock-"};  // a mutex without protection
            return n;
        }
        case lock_naming::kazoo: return naming("", {"__lock__"});
    }
    return naming("", {"-lock-"});
}

}  // namespace

class lock_impl {
public:
    lock_impl(std::string path, lock_options options)
        : path_(std::move(path)),
          identity_(std::move(options.identity)) {
        settings_.directory = path_;
        settings_.names = make_naming(options.naming);
        settings_.rule = &the_exclusive_rule();
        settings_.entries = std::move(options.entries);
        // The root itself can be no lock: the server keeps nodes of its own there.
        if (path_problem(path_) || path_ == "/") problem_ = errc::bad_path;
    }

    const std::string& path() const noexcept { return path_; }
    const std::string& identity() const noexcept { return identity_; }
    const line_settings& settings() const noexcept { return settings_; }

    error_code problem() const { return problem_; }

private:
    std::string path_;
    std::string identity_;
    line_settings settings_;
    error_code problem_;
};

}  // namespace detail

using namespace detail;

namespace {

/// Why nothing can be started, or no error.
error_code problem_of(const std::shared_ptr<session>& s,
                      const std::shared_ptr<const lock_impl>& impl) {
    return s ? impl->problem() : make_error_code(errc::closed);
}

template <class... Values>
void refuse(const std::shared_ptr<session>& s,
            error_code reason,
            any_handler<void(error_code, Values...)> handler) {
    auto executor = s ? s->executor() : fallback_executor(handler);
    post_result<Values...>(executor, std::move(handler), reason, Values()...);
}

}  // namespace

lock::lock(const client& c, std::string path, lock_options options)
    : session_(c.implementation()),
      impl_(std::make_shared<const lock_impl>(std::move(path), std::move(options))) {
    if (problem_of(session_, impl_) == errc::bad_path) {
        const char* problem = path_problem(impl_->path());
        session_->log(log_level::warning, "lock: path \"" + impl_->path() + "\" " +
                                              (problem ? problem : "is the root: name a folder"));
    }
}

lock::lock(lock&&) noexcept = default;
lock& lock::operator=(lock&&) noexcept = default;
lock::~lock() = default;

const std::string& lock::path() const noexcept {
    static const std::string none;
    return impl_ ? impl_->path() : none;
}

void lock::start_acquire(const session_ptr& s,
                         const impl_ptr& impl,
                         mode how,
                         time_point deadline,
                         any_handler<void(error_code, ownership)> handler) {
    if (error_code ec = problem_of(s, impl)) return refuse<ownership>(s, ec, std::move(handler));
    contender_request request;
    request.data = impl->identity();
    request.try_only = how == mode::try_only;
    if (deadline != time_point::max()) request.deadline = deadline;
    s->use_service<lines>()
        .get(impl->settings())
        .enter(std::move(request), user_call<ownership>(*s, std::move(handler)));
}

void lock::start_contenders(const session_ptr& s,
                            const impl_ptr& impl,
                            any_handler<void(error_code, std::vector<contender_info>)> handler) {
    using infos = std::vector<contender_info>;
    if (error_code ec = problem_of(s, impl)) return refuse<infos>(s, ec, std::move(handler));
    s->spawn(list_contenders(*s, impl->settings(), {"lock"},
                             user_call<infos>(*s, std::move(handler))));
}

void lock::start_break(const session_ptr& s,
                       const impl_ptr& impl,
                       std::string contender_path,
                       any_handler<void(error_code)> handler) {
    if (error_code ec = problem_of(s, impl)) return refuse<>(s, ec, std::move(handler));
    s->spawn(break_contender(*s, impl->settings(), std::move(contender_path),
                             user_call<>(*s, std::move(handler))));
}

}  // namespace corozk
