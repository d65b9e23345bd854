#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

# usage: rules.sh COMPILER SOURCE_FOLDER
#
# The rules of the recipes, and what a queue's consumer knows of its items, do no I/O: none of them includes
# Asio, however indirectly. Their headers are looked at as well: some have no other file.
compiler=$1
root=$2
wrong=0
checked=0
for rule in "$root"/src/recipe/*/*rule.[ch]pp \
    "$root"/src/recipe/contention/{contention_view,head_decision,node_creation}.[ch]pp \
    "$root"/src/recipe/queue/item_*.[ch]pp; do
    included=$("$compiler" -std=c++20 -M -I"$root/src" -I"$root/include" -x c++ "$rule")
    checked=$((checked + 1))
    if [[ $included == *boost/asio* ]]; then
        printf '%s includes %s\n' "${rule#"$root"/}" "$(grep -o '[^ ]*boost/asio[^ ]*' <<<"$included" | head -n 1)"
        wrong=1
    fi
done
printf '%s rules\n' "$checked"
[ "$checked" -gt 0 ] && [ "$wrong" = 0 ]
