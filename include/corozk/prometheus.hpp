// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/counters.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/session_state.hpp>

#include <map>
#include <span>
#include <string>

namespace corozk {

/** @brief The metrics of one client, with labels such as {"client", "jobs"}. */
struct prometheus_sample {
    prometheus_sample() = default;
    prometheus_sample(client_counters counters_,
                      session_status status_,
                      std::map<std::string, std::string> labels_ = {})
        : counters(counters_), status(status_), labels(std::move(labels_)) {}

    client_counters counters;                   ///< From `client::counters`.
    session_status status;                      ///< From `client::status`.
    std::map<std::string, std::string> labels;  ///< Must distinguish the samples of a page.
};

/**
 * @brief Formats the metrics of one or more clients in Prometheus' text format, to be served as
 *        `text/plain; version=0.0.4`.
 *
 * @code
 *   corozk::prometheus_sample sample(zk.counters(), zk.status(), {{"client", "jobs"}});
 *   std::string page = corozk::prometheus_text({&sample, 1});
 * @endcode
 *
 * Metric names begin with `corozk_`; durations are histograms in seconds.
 *
 * @par Preconditions
 * Label names consist of letters, digits and underscores, and do not begin with a digit; others are
 * omitted. Label values may be any text.
 */
COROZK_DECL std::string prometheus_text(std::span<const prometheus_sample> samples);

}  // namespace corozk
