#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: http_service.sh PROGRAM HOSTS [BROWSER]
#
# Drives the HTTP service with a real client (curl), and its page with a headless browser if one is
# named. Waits for states, never for times; ctest bounds the whole.
set -euo pipefail

program=$1
hosts=$2
browser=${3:-}
work=$(mktemp -d)
declare -A process url
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    [ ${#process[@]} = 0 ] || kill -KILL "${process[@]}" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT

fail() {
    printf 'failed: %s\n' "$*" >&2
    for name in "${!process[@]}"; do
        printf '%s said:\n' "$name" >&2
        cat "$work/$name.out" >&2
    done
    exit 1
}
until_true() {
    while ! "$@"; do
        sleep 0.05
    done
}
start() {
    "$program" "$hosts" "$1" >"$work/$1.out" 2>&1 &
    process[$1]=$!
    until_true grep -q '^http://' "$work/$1.out"
    url[$1]=$(head -n 1 "$work/$1.out")
}
get() {
    curl --silent --show-error --fail "${url[$1]}$2"
}
post() {
    curl --silent --show-error --fail --request POST --data "${3:-}" "${url[$1]}$2"
}
status_has() {
    get "$1" status | grep -q "$2"
}

start one
start two
[ "$(get one health)" = healthy ] || fail "health"
until_true status_has one '"name":"two"'
get two status | grep -q '"name":"one"' || fail "members"

# Work under a named lock, from both sides at once: nothing is lost.
for i in 1 2 3 4 5 6 7 8 9 10; do
    for name in one two; do
        post "$name" accounts/anna/deposit/1 >"$work/balance-$name-$i" &
        deposits+=($!)
    done
done
for deposit in "${deposits[@]}"; do
    wait "$deposit" || fail "a deposit"
done
[ "$(post one accounts/anna/deposit/0)" = 20 ] || fail "the balance"
[ "$(sort -n "$work"/balance-* | tail -n 1)" = 20 ] || fail "the last balance"
[ "$(sort -n "$work"/balance-* | uniq | wc -l)" = 20 ] || fail "two deposits at once"

# Jobs are done, each of them once, whoever does them.
for i in 1 2 3 4 5; do
    post one jobs 'otto 100' >"$work/job-$i"
done
all_done() {
    local one two
    one=$(get one status | grep -o '"done":[0-9]*' | cut -d: -f2)
    two=$(get two status | grep -o '"done":[0-9]*' | cut -d: -f2)
    [ $((one + two)) = 5 ]
}
until_true all_done
[ "$(post two accounts/otto/deposit/0)" = 500 ] || fail "the jobs' balance"

# What is wrong in a request is that request's matter.
[ "$(curl --silent -o "$work/wrong" -w '%{http_code}' "${url[one]}nowhere")" = 404 ] || fail "404"
[ "$(curl --silent -o "$work/wrong" -w '%{http_code}' --request POST \
    "${url[one]}accounts/anna/deposit/much")" = 400 ] || fail "400"
get one health >"$work/health" || fail "still healthy"

get one metrics >"$work/metrics"
grep -q '^corozk_connected{instance="one"} 1$' "$work/metrics" || fail "metrics"
grep -q '^corozk_wait_duration_seconds_count' "$work/metrics" || fail "histograms"

# The page is live: what comes from /events is shown.
timeout 60 curl --silent --no-buffer --max-time 50 "${url[one]}events" >"$work/events" &
events=$!
until_true grep -q '^data: .*"name":"two"' "$work/events"
kill "$events" 2>/dev/null || true
if [ -n "$browser" ]; then
    "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir="$work/profile" --virtual-time-budget=5000 --dump-dom "${url[one]}" \
        >"$work/page" 2>"$work/browser" || fail "the browser: $(tail -n 5 "$work/browser")"
    grep -q '<b id="self">one</b>' "$work/page" || fail "the page does not say who it is"
    grep -q '<td>two</td>' "$work/page" || fail "the page does not show the other member"
    grep -q '<td>leader</td>' "$work/page" || fail "the page shows no leader"
fi

# One leads; when it ends, the other one goes on, and its periodic job with it.
leader_among() {
    get "$1" status | grep -o '"name":"[a-z]*","address":"[^"]*","leader":true' |
        cut -d'"' -f4
}
has_leader() {
    [ -n "$(leader_among one)" ]
}
until_true has_leader
leader=$(leader_among one)
other=$([ "$leader" = one ] && echo two || echo one)
ticks() {
    get "$other" status | grep -o '"ticks":[0-9]*' | cut -d: -f2
}
kill -TERM "${process[$leader]}"
wait "${process[$leader]}" || fail "$leader did not end cleanly"
grep -q '^ended$' "$work/$leader.out" || fail "$leader did not say that it ended"
unset "process[$leader]"
other_leads() {
    [ "$(leader_among "$other")" = "$other" ]
}
until_true other_leads
before=$(ticks)
goes_on() {
    [ "$(ticks)" -gt "$before" ]
}
until_true goes_on
if get "$other" status | grep -q "\"name\":\"$leader\""; then
    fail "$leader is still a member"
fi
kill -TERM "${process[$other]}"
wait "${process[$other]}" || fail "$other did not end cleanly"
unset "process[$other]"
echo "the service works"
