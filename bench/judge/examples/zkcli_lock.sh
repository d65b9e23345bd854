#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The lock of ZooKeeper's recipes page in ZooKeeper's own command line client (Debian's package
# zookeeper), as corozk-bench judges it:
#
# corozk-bench judge --waiters 5 --fair -- bench/judge/examples/zkcli_lock.sh
set -eu

zkcli=/usr/share/zookeeper/bin/zkCli.sh
path=$COROZK_BENCH_PATH

# Whatever goes wrong, the session ends, and the node with it.
fail() {
    echo "zkcli_lock.sh: $*" >&2
    exit 1
}

[ -x "$zkcli" ] || fail "there is no $zkcli: Debian's package zookeeper"

# One session from here to the end: commands go into zk[1], answers and events come from zk[0].
export CLIENT_JVMFLAGS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # starts sooner
coproc zk {
    exec "$zkcli" -server "$COROZK_BENCH_HOSTS" -timeout "$COROZK_BENCH_SESSION_TIMEOUT_MS" \
        -waitforconnection 2>&1  # `create` answers there
}
# shellcheck disable=SC2154 # set by coproc
client=$zk_PID input=${zk[1]} output=${zk[0]}

# `quit` closes the session; without it the node would stay for the session timeout.
leave() {
    echo quit >&"$input" || true
    wait "$client" || true
}
trap '' PIPE
trap leave EXIT
trap 'exit 143' TERM

# Reads the next line into `line`. An event can come at any time, even within an answer: the path
# that it is about goes into `changed`.
hear() {
    while read -r line <&"$output"; do
        case $line in
            *'WatchedEvent state:Expired'*) fail "the session has expired" ;;
            *'WatchedEvent '*' type:Node'*) changed=${line#* path:} changed=${changed%% zxid:*} ;;
            '' | WATCHER:: | *'WatchedEvent '*) continue ;;
        esac
        return
    done
    fail "zkCli.sh has ended"
}

# Sends a command and puts its answer into `answer`. Where that ends is told by another command,
# which always answers the same and asks the server nothing.
ask() {
    printf '%s\nprintwatches\n' "$1" >&"$input"
    answer=
    while hear && [[ $line != *'printwatches is on' ]]; do
        [[ $line == *'WatchedEvent '* ]] || answer+=$line$'\n'
    done
}

ask "create $path"  # another one may have been first

echo waiting
ask "create -e -s $path/lock-"
[[ $answer =~ Created\ "$path"/(lock-[0-9]{10}) ]] || fail "create: $answer"
mine=${BASH_REMATCH[1]}
echo queued

# Who has the lowest number has the lock. The others watch the node before theirs and no other, so
# that a release wakes one; and they look again, for whoever had that node may have given up.
while true; do
    ask "ls $path"
    names=$(grep -o 'lock-[0-9]\{10\}' <<< "${answer//$'\n'/}" | sort) || fail "ls: $answer"
    [[ $names == *"$mine"* ]] || fail "$mine has gone"
    before=$(sed -n "/$mine/{x;p;q;};h" <<< "$names")
    [ -n "$before" ] || break
    changed=
    ask "stat -w $path/$before"
    case $answer in
        *'numChildren ='*) until [ "$changed" = "$path/$before" ]; do hear; done ;;
        *'Node does not exist'*) ;;
        *) fail "stat: $answer" ;;
    esac
done

# It has it. Transactions have ascending numbers: that of the create is a fencing token.
ask "stat $path/$mine"
[[ $answer =~ cZxid\ =\ (0x[0-9a-f]+) ]] || fail "stat: $answer"
echo "holding $((BASH_REMATCH[1]))"

read -r _ || exit 0  # "release"
ask "delete $path/$mine"
[[ $answer != *[![:space:]]* ]] || fail "delete: $answer"
echo released

read -r _ || true  # to the end: closing the session would be counted with the hand-over
