#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The program `corozk lock` as corozk-bench judges it; it tells fencing tokens, too:
#
# corozk-bench judge --waiters 10 -- bench/judge/examples/corozk_lock.sh
set -eu

echo waiting
# shellcheck disable=SC2016 # the inner shell's variables
corozk lock --hosts "$COROZK_BENCH_HOSTS" \
    --session-timeout "${COROZK_BENCH_SESSION_TIMEOUT_MS}ms" "$COROZK_BENCH_PATH" -- \
    sh -c 'echo "holding $COROZK_FENCING_TOKEN"; read -r release'
echo released
