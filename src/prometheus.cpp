// SPDX-License-Identifier: Apache-2.0
#include <corozk/prometheus.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace corozk {

namespace {

/// A counter (`..._total`) or a gauge.
struct figure {
    std::string_view name;
    std::string_view help;
    std::uint64_t client_counters::*value;
};

using counters = client_counters;

constexpr figure figures[] = {
    {"corozk_requests_total", "Requests handed to the connection.", &counters::requests},
    {"corozk_responses_total", "Responses received, including errors.", &counters::responses},
    {"corozk_connection_losses_total",
     "Requests without a response, except heartbeats.",
     &counters::connection_losses},
    {"corozk_notifications_total", "Watch events.", &counters::notifications},
    {"corozk_listings_total", "Requests for a node's children.", &counters::listings},
    {"corozk_connects_total",
     "Sessions established or resumed on a connection.",
     &counters::connects},
    {"corozk_expirations_total", "Sessions lost.", &counters::expirations},
    {"corozk_sent_bytes_total", "Payload sent on connections.", &counters::bytes_sent},
    {"corozk_received_bytes_total", "Payload received on connections.", &counters::bytes_received},
    {"corozk_grants_total", "Locks, permits and leaderships obtained.", &counters::grants},
    {"corozk_requests_in_flight", "Requests sent and not answered.", &counters::in_flight},
    {"corozk_requests_queued", "Requests that wait to be sent.", &counters::queued},
    {"corozk_watches", "Watches registered.", &counters::watches},
};

struct duration_figure {
    std::string_view name;
    std::string_view help;
    duration_histogram client_counters::*value;
};

constexpr duration_figure duration_figures[] = {
    {"corozk_request_duration_seconds",
     "From sending a request to its answer.",
     &counters::request_times},
    {"corozk_wait_duration_seconds",
     "From asking for a lock, permit or leadership to the grant.",
     &counters::wait_times},
    {"corozk_hold_duration_seconds",
     "From the grant of a lock, permit or leadership to its end.",
     &counters::hold_times},
};

std::uint64_t is_connected(const session_status& status) {
    return status.state == session_state::connected || status.state == session_state::read_only;
}

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
    auto begin = [&](std::string_view name, std::string_view help, std::string_view type) {
        fmt::format_to(out, "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    };
    auto write = [&](std::string_view name, std::string_view help, auto value_of) {
        begin(name, help, name.ends_with("_total") ? "counter" : "gauge");
        for (const prometheus_sample& s : samples) {
            std::string labels = labels_of(s);
            std::string braces = labels.empty() ? "" : "{" + labels + "}";
            fmt::format_to(out, "{}{} {}\n", name, braces, value_of(s));
        }
    };
    for (const figure& f : figures)
        write(f.name, f.help, [&f](const prometheus_sample& s) { return s.counters.*f.value; });
    write("corozk_connected",
          "Whether the session is established on a connection.",
          [](const prometheus_sample& s) { return is_connected(s.status); });
    write("corozk_sessions_total", "Sessions begun.", [](const prometheus_sample& s) {
        return s.status.generation;
    });
    for (const duration_figure& f : duration_figures) {
        begin(f.name, f.help, "histogram");
        for (const prometheus_sample& s : samples)
            write_histogram(page, f.name, labels_of(s), s.counters.*f.value);
    }
    return page;
}

}  // namespace corozk
