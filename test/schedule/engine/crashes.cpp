// SPDX-License-Identifier: Apache-2.0
#include "crashes.hpp"

#include "now_playing.hpp"

#include <csignal>
#include <initializer_list>

/// Null where there is no sanitizer.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

/// That one has its callbacks for itself; what it reports ends by a signal.
extern "C" const char* __ubsan_default_options() {
    return "abort_on_error=1";
}

namespace corozk::schedule {

namespace {

/// Ours may be used up. Not in .bss, of which each moment that is saved has a copy.
thread_local char another_stack[64 * 1024];

const char* what_happens_by(int signal) noexcept {
    switch (signal) {
        case SIGALRM: return "it takes longer than --patience allows";
        case SIGABRT: return "crashed by SIGABRT";
        case SIGSEGV: return "crashed by SIGSEGV";
        default: return "crashed";
    }
}

extern "C" void on_crash(int signal) {
    now_playing::tell_failure(what_happens_by(signal));
    std::raise(signal);  // which nobody handles any more
}

extern "C" void on_report() {
    now_playing::tell_failure("a sanitizer has ended it");
}

void handle(std::initializer_list<int> signals) {
    for (int signal : signals) {
        struct sigaction how {};
        how.sa_handler = on_crash;
        how.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
        ::sigaction(signal, &how, nullptr);
    }
}

}  // namespace

void tell_crashes() {
    stack_t stack{};
    stack.ss_sp = another_stack;
    stack.ss_size = sizeof another_stack;
    handle({SIGABRT, SIGALRM});
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(on_report);
        return;  // it has its own stack, and reports the others
    }
    ::sigaltstack(&stack, nullptr);
    handle({SIGSEGV, SIGBUS, SIGFPE, SIGILL});
}

}  // namespace corozk::schedule
