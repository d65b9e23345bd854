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
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
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
    get "$1" status >"$work/status-$1"
    grep -q "$2" "$work/status-$1"
}

start one
start two
[ "$(get one health)" = healthy ] || fail "health"
until_true status_has one '"name":"two"'
until_true status_has two '"name":"one"'

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
code() {
    curl --silent --output "$work/wrong" --write-out '%{http_code}' --request "$@"
}
[ "$(code GET "${url[one]}nowhere")" = 404 ] || fail "404"
[ "$(code PUT "${url[one]}jobs")" = 405 ] || fail "405"
for wrong in anna/deposit/much anna/deposit/ ../deposit/1 anna/deposit/1x; do
    [ "$(code POST --path-as-is "${url[one]}accounts/$wrong")" = 400 ] || fail "400: $wrong"
done
[ "$(code POST --data 'otto much' "${url[one]}jobs")" = 400 ] || fail "400: a job"
head -c 100000 /dev/zero | tr '\0' x >"$work/large"
[ "$(code POST --data-binary "@$work/large" "${url[one]}jobs")" = 413 ] || fail "413"
[ "$(code GET --header "Long: $(head -c 10000 "$work/large")" "${url[one]}")" = 431 ] || fail "431"
[ "$(code "B@D" "${url[one]}")" = 400 ] || fail "400: no HTTP"
# A body behind the answer to HEAD would be taken for the next answer.
[ "$(curl --silent --head "${url[one]}health" --next --silent "${url[one]}health?probe=1" |
    tail -n 2 | tr -d '\r\n')" = healthy ] || fail "HEAD"
get one health >"$work/health" || fail "still healthy"

# What somebody has written where there should be a number costs who needs it one answer.
node() {
    "$here/node.py" "$hosts" "$@"
}
is_healthy() {
    [ "$(get "$1" health 2>/dev/null)" = healthy ]
}
says() {
    [ "$(code GET "${url[$1]}health")" = 503 ] && grep -q "$2" "$work/wrong"
}
put_aside() {
    [ "$(node children /service/failed </dev/null)" = "$1" ]
}
printf 'not a number' | node set /service/accounts/anna
for name in one two; do
    [ "$(code POST "${url[$name]}accounts/anna/deposit/1")" = 409 ] || fail "409 by $name"
done
post one jobs 'anna 1' >"$work/job"
until_true put_aside 1
printf '9223372036854775807' | node set /service/accounts/anna
post two jobs 'anna 1' >"$work/job"
until_true put_aside 2
[ "$(code POST "${url[one]}accounts/anna/deposit/1")" = 409 ] || fail "409: too much"
printf 'no job at all' | node create /service/jobs/queue-0000009999
until_true put_aside 3
printf '20' | node set /service/accounts/anna
[ "$(post one accounts/anna/deposit/1)" = 21 ] || fail "an account that is a number again"
for name in one two; do
    is_healthy "$name" || fail "$name is healthy after bad accounts"
done
post one jobs 'anna 1' >"$work/job"
until_true eval '[ "$(post one accounts/anna/deposit/0)" = 22 ]'

# The periodic job cannot be done: this is said, and it goes on as soon as it can be.
printf 'not a number' | node set /service/ticks
until_true says one 'ticks does not contain a number'
until_true says two 'ticks does not contain a number'
until_true eval 'says one "^leader: " || says two "^leader: "'
get one status | grep -q '"ticks":null' || fail "no number on the status page"
post one accounts/anna/deposit/0 >"$work/balance" || fail "what needs no ticks goes on"
printf '1000' | node set /service/ticks
until_true is_healthy one
until_true is_healthy two
until_true status_has one '"ticks":100[1-9]'
node erase /service/ticks </dev/null
until_true status_has two '"ticks":[1-9]'
until_true is_healthy one

# Any instance is asked, each in turn: those that are known, and one that has crashed in vain.
asks_both() {
    [[ $(get one any/status)$(get one any/status) == *'"self":"two"'* ]] &&
        [[ $(get two any/status)$(get two any/status) == *'"self":"one"'* ]]
}
until_true is_healthy two
until_true asks_both
[ "$(code GET "${url[one]}any/nowhere")" = 404 ] || fail "404 of another instance"
start gone
until_true status_has one '"name":"gone"'
kill -KILL "${process[gone]}"
unset "process[gone]"
for i in 1 2 3 4; do
    [ "$(get one any/health)" = healthy ] || fail "another instance after a crash"
done
until_true eval '! status_has one "\"name\":\"gone\""'

# A process that stood still has lost its session: it begins again in the next one.
lost_and_back() {
    kill -STOP "${process[two]}"
    until_true eval '! status_has one "\"name\":\"two\""'
    kill -CONT "${process[two]}"
    until_true status_has one '"name":"two"'
    until_true is_healthy two
}
lost_and_back
[ "$(post two accounts/anna/deposit/1)" = 23 ] || fail "a deposit in the next session"
kill -STOP "${process[one]}" # only two is there to do it
post two jobs 'anna 1' >"$work/job"
until_true eval '[ "$(post two accounts/anna/deposit/0)" = 24 ]'
kill -CONT "${process[one]}"
until_true is_healthy one

# No descriptors for a moment.
start_poor() {
    (
        ulimit -n 40
        exec "$program" "$hosts" poor
    ) >"$work/poor.out" 2>&1 &
    process[poor]=$!
    until_true grep -q '^http://' "$work/poor.out"
    url[poor]=$(grep -m 1 '^http://' "$work/poor.out")
}
start_poor
"$here/crowd.py" "${url[poor]}" 60 || fail "a crowd"
kill -TERM "${process[poor]}"
wait "${process[poor]}" || fail "poor did not end cleanly"
unset "process[poor]"
until_true eval '! status_has one "\"name\":\"poor\""'

get one metrics >"$work/metrics"
grep -q '^corozk_connected{instance="one"} 1$' "$work/metrics" || fail "metrics"
grep -q '^corozk_wait_duration_seconds_count' "$work/metrics" || fail "histograms"

# The page is live: it is opened once, and shows what happens.
timeout 60 curl --silent --no-buffer --max-time 50 "${url[one]}events" >"$work/events" &
events=$!
until_true grep -q '^data: .*"name":"two"' "$work/events"
kill "$events" 2>/dev/null || true
open_page() {
    exec {log}>"$work/browser.out"
    coproc PAGE { exec "$here/browser.py" "$browser" "$work/profile" "$1" 2>&"$log"; }
    process[browser]=$PAGE_PID
}
# sees EXPRESSION: waits until it is true of the page.
sees() {
    local answer=
    [ -n "$browser" ] || return 0
    printf '%s\n' "$1" >&"${PAGE[1]}"
    read -r answer <&"${PAGE[0]}" || fail "the browser has ended before: $1"
    [ "$answer" = ok ] || fail "$1: $answer"
}
text_of() {
    printf 'document.getElementById("%s").textContent' "$1"
}
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
if [ -n "$browser" ]; then
    open_page "${url[$other]}"
fi
rows='[...document.querySelectorAll("#members tr")].map(row => row.innerText.split(/\s+/).join(" "))'
of() {
    printf '%s:%s' 127.0.0.1 "$(cut -d: -f3 <<<"${url[$1]}" | tr -d /)"
}
sees "$(text_of self) == '$other' && $(text_of session) == 'connected'"
sees "String($rows.sort()) == [\"$leader $(of "$leader") leader\", \"$other $(of "$other") member\"].sort()"
sees "window.before = Number($(text_of ticks)); window.before > 0"
sees "Number($(text_of ticks)) > window.before + 1"
post "$leader" jobs 'otto 1' >"$work/job"
sees "$(text_of waiting) == '0'"
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
[ "$before" -gt 0 ] || fail "$other does not know how far $leader came"
goes_on() {
    [ "$(ticks)" -gt "$before" ]
}
until_true goes_on
is_alone() {
    ! status_has "$other" "\"name\":\"$leader\""
}
until_true is_alone
sees "String($rows) == '$other $(of "$other") leader'"
sees "window.before = Number($(text_of ticks)); true"
sees "Number($(text_of ticks)) > window.before + 1"
if [ -n "$browser" ]; then
    [ -z "${COROZK_SCREENSHOT:-}" ] || sees "screenshot $COROZK_SCREENSHOT"
    exec {PAGE[1]}>&-
    wait "${process[browser]}" || fail "the browser did not end cleanly"
    unset "process[browser]"
fi
kill -TERM "${process[$other]}"
wait "${process[$other]}" || fail "$other did not end cleanly"
unset "process[$other]"
echo "the service works"
