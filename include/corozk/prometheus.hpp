// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corozk/counters.hpp>
#include <corozk/detail/export.hpp>
#include <corozk/session_state.hpp>

#include <map>
#include <span>
#include <string>

namespace corozk {

/** @brief One client's figures, and what tells it from others: such as {"client", "jobs"}. */
struct prometheus_sample {
    prometheus_sample() = default;
    prometheus_sample(client_counters counters_,
                      session_status status_,
                      std::map<std::string, std::string> labels_ = {})
        : counters(counters_), status(status_), labels(std::move(labels_)) {}

    client_counters counters;                   ///< Of `client::counters`.
    session_status status;                      ///< Of `client::status`.
    std::map<std::string, std::string> labels;  ///< What tells it from others.
};

/**
 * @brief The figures of one or several clients in Prometheus' text format (version 0.0.4), to be
 *        served as `text/plain; version=0.0.4`.
 *
 * @code
 *   corozk::prometheus_sample sample(zk.counters(), zk.status(), {{"client", "jobs"}});
 *   std::string page = corozk::prometheus_text({&sample, 1});
 * @endcode
 *
 * Names begin with `corozk_`; durations are histograms in seconds.
 *
 * @par Preconditions
 * Names of labels have letters, digits and underscores; others are left out. Values may be any
 * text.
 */
COROZK_DECL std::string prometheus_text(std::span<const prometheus_sample> samples);

}  // namespace corozk
