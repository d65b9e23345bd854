// SPDX-License-Identifier: Apache-2.0
#include <corozk/prometheus.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace corozk {

namespace {

struct figure {
    std::string_view name;
    std::string_view type;
    std::string_view help;
    double (*value)(const prometheus_sample&);
};

double of(std::uint64_t n) {
    return static_cast<double>(n);
}

// clang-format off
constexpr std::array figures{
    figure{"corozk_requests_total", "counter", "Requests handed to the connection.",
           [](const prometheus_sample& s) { return of(s.counters.requests); }},
    figure{"corozk_answers_total", "counter", "Requests answered by a server, errors included.",
           [](const prometheus_sample& s) { return of(s.counters.answers); }},
    figure{"corozk_connection_losses_total", "counter", "Requests whose answer never came.",
           [](const prometheus_sample& s) { return of(s.counters.connection_losses); }},
    figure{"corozk_notifications_total", "counter", "Watch events.",
           [](const prometheus_sample& s) { return of(s.counters.notifications); }},
    figure{"corozk_listings_total", "counter", "Requests for a node's children.",
           [](const prometheus_sample& s) { return of(s.counters.listings); }},
    figure{"corozk_connects_total", "counter", "Sessions established or resumed on a connection.",
           [](const prometheus_sample& s) { return of(s.counters.connects); }},
    figure{"corozk_expirations_total", "counter", "Sessions lost.",
           [](const prometheus_sample& s) { return of(s.counters.expirations); }},
    figure{"corozk_sent_bytes_total", "counter", "Payload sent on connections.",
           [](const prometheus_sample& s) { return of(s.counters.bytes_sent); }},
    figure{"corozk_received_bytes_total", "counter", "Payload received on connections.",
           [](const prometheus_sample& s) { return of(s.counters.bytes_received); }},
    figure{"corozk_grants_total", "counter", "Locks, permits and leaderships obtained.",
           [](const prometheus_sample& s) { return of(s.counters.grants); }},
    figure{"corozk_requests_in_flight", "gauge", "Requests sent and not answered.",
           [](const prometheus_sample& s) { return of(s.counters.in_flight); }},
    figure{"corozk_requests_queued", "gauge", "Requests that wait for a connection.",
           [](const prometheus_sample& s) { return of(s.counters.queued); }},
    figure{"corozk_watches", "gauge", "Watches registered.",
           [](const prometheus_sample& s) { return of(s.counters.watches); }},
    figure{"corozk_connected", "gauge", "Whether the session is established on a connection.",
           [](const prometheus_sample& s) {
               return s.status.state == session_state::connected ||
                              s.status.state == session_state::read_only ? 1.0 : 0.0;
           }},
    figure{"corozk_sessions_total", "counter", "Sessions begun.",
           [](const prometheus_sample& s) { return of(s.status.generation); }},
};
// clang-format on

struct duration_figure {
    std::string_view name;
    std::string_view help;
    const duration_histogram& (*value)(const prometheus_sample&);
};

constexpr std::array duration_figures{
    duration_figure{"corozk_request_duration_seconds",
                    "From sending a request to its answer.",
                    [](const prometheus_sample& s) -> const duration_histogram& {
                        return s.counters.request_times;
                    }},
    duration_figure{"corozk_wait_duration_seconds",
                    "From asking for a lock, permit or leadership to the grant.",
                    [](const prometheus_sample& s) -> const duration_histogram& {
                        return s.counters.wait_times;
                    }},
    duration_figure{"corozk_hold_duration_seconds",
                    "From the grant of a lock, permit or leadership to its end.",
                    [](const prometheus_sample& s) -> const duration_histogram& {
                        return s.counters.hold_times;
                    }},
};

double seconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

bool is_label_name(std::string_view name) {
    auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), follows);
}

/// `a="b",c="d"`, with what Prometheus wants escaped.
std::string labels_of(const prometheus_sample& s) {
    std::string text;
    for (const auto& [name, value] : s.labels) {
        if (!is_label_name(name))
            continue;
        text += text.empty() ? "" : ",";
        text += name + "=\"";
        for (char c : value) {
            if (c == '\n')
                text += "\\n";
            else if (c == '"' || c == '\\')
                text += {'\\', c};
            else
                text += c;
        }
        text += '"';
    }
    return text;
}

void write_histogram(std::string& page,
                     std::string_view name,
                     const std::string& labels,
                     const duration_histogram& h) {
    std::string comma = labels.empty() ? "" : ",";
    std::string braces = labels.empty() ? "" : "{" + labels + "}";
    std::uint64_t sum = 0;
    auto out = std::back_inserter(page);
    for (std::size_t i = 0; i + 1 < duration_histogram::bucket_count; ++i) {
        sum += h[i];
        fmt::format_to(out,
                       "{}_bucket{{{}{}le=\"{:g}\"}} {}\n",
                       name,
                       labels,
                       comma,
                       seconds(duration_histogram::bound(i)),
                       sum);
    }
    fmt::format_to(out, "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, h.count());
    fmt::format_to(out, "{}_sum{} {}\n", name, braces, seconds(h.sum()));
    fmt::format_to(out, "{}_count{} {}\n", name, braces, h.count());
}

}  // namespace

std::string prometheus_text(std::span<const prometheus_sample> samples) {
    std::string page;
    auto out = std::back_inserter(page);
    for (const figure& f : figures) {
        fmt::format_to(out, "# HELP {} {}\n# TYPE {} {}\n", f.name, f.help, f.name, f.type);
        for (const prometheus_sample& s : samples) {
            std::string labels = labels_of(s);
            std::string braces = labels.empty() ? "" : "{" + labels + "}";
            fmt::format_to(out, "{}{} {:.17g}\n", f.name, braces, f.value(s));
        }
    }
    for (const duration_figure& f : duration_figures) {
        fmt::format_to(out, "# HELP {} {}\n# TYPE {} histogram\n", f.name, f.help, f.name);
        for (const prometheus_sample& s : samples)
            write_histogram(page, f.name, labels_of(s), f.value(s));
    }
    return page;
}

}  // namespace corozk
