#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

# usage: rules.sh COMPILER SOURCE_FOLDER
#
# What does no I/O includes no Asio, however indirectly: whole folders of src/, the rules of recipes, and the
# files that are named here. A name without a file is an error.
compiler=$1
root=$2
wrong=0
checked=0
for file in "$root"/src/{operation,wire,node_map}/*.[ch]pp \
    "$root"/src/recipe/*/*rule.[ch]pp \
    "$root"/src/recipe/barriers/double_barrier_members.[ch]pp \
    "$root"/src/recipe/contention/{contention_{node,settings,view},head_decision,limit_state,node_{creation,name}}.[ch]pp \
    "$root"/src/recipe/queue/item_{index,order}.[ch]pp \
    "$root"/src/recipe/toolkit/{fault,lease_term,node_view,sequence_end}.[ch]pp \
    "$root"/src/session/{closing_steps,expiry_clock,relocation,request_size,send_window}.[ch]pp \
    "$root"/src/session/watch_{registry,trimming}.[ch]pp; do
    included=$("$compiler" -std=c++20 -M -I"$root/src" -I"$root/include" -x c++ "$file")
    checked=$((checked + 1))
    if [[ $included == *boost/asio* ]]; then
        printf '%s includes %s\n' "${file#"$root"/}" "$(grep -o '[^ ]*boost/asio[^ ]*' <<<"$included" | head -n 1)"
        wrong=1
    fi
done
printf '%s files\n' "$checked"
[ "$checked" -gt 0 ] && [ "$wrong" = 0 ]
