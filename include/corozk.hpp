// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// @brief Includes the client and all recipes.

#include <corozk/client.hpp>
#include <corozk/compatibility.hpp>
#include <corozk/contender_info.hpp>
#include <corozk/counters.hpp>
#include <corozk/duration_histogram.hpp>
#include <corozk/error.hpp>
#include <corozk/logger.hpp>
#include <corozk/options.hpp>
#include <corozk/ownership.hpp>
#include <corozk/path_list.hpp>
#include <corozk/persistent_watch.hpp>
#include <corozk/prometheus.hpp>
#include <corozk/recipe/barrier.hpp>
#include <corozk/recipe/cache.hpp>
#include <corozk/recipe/configuration.hpp>
#include <corozk/recipe/contention_inspector.hpp>
#include <corozk/recipe/counter.hpp>
#include <corozk/recipe/deadlocks.hpp>
#include <corozk/recipe/delay_queue.hpp>
#include <corozk/recipe/double_barrier.hpp>
#include <corozk/recipe/election.hpp>
#include <corozk/recipe/leader_latch.hpp>
#include <corozk/recipe/lock.hpp>
#include <corozk/recipe/membership.hpp>
#include <corozk/recipe/multi_lock.hpp>
#include <corozk/recipe/multi_ownership.hpp>
#include <corozk/recipe/name_service.hpp>
#include <corozk/recipe/persistent_node.hpp>
#include <corozk/recipe/priority_lock.hpp>
#include <corozk/recipe/queue.hpp>
#include <corozk/recipe/rendezvous.hpp>
#include <corozk/recipe/semaphore.hpp>
#include <corozk/recipe/shared_lock.hpp>
#include <corozk/recipe/two_phase_commit.hpp>
#include <corozk/session_state.hpp>
#include <corozk/time_limit.hpp>
#include <corozk/token.hpp>
#include <corozk/tracer.hpp>
#include <corozk/transaction.hpp>
#include <corozk/types.hpp>
#include <corozk/version.hpp>
#include <corozk/watch.hpp>
