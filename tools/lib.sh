# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the tools share; sourced, not run. Everything it says goes to standard error.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# help_first TOOL PROGRAM WORD...: if one of the words asks for help, shows it and exits: what the tool's first
# comment says, and what its program (none: "") says to these words. Nothing is installed or built for that.
help_first() {
    local tool=$1 program=$2 word asked=0
    shift 2
    [ "${1:-}" != help ] || asked=1
    for word in "$@"; do
        case $word in
            --) break ;;
            -h | --help) asked=1 ;;
        esac
    done
    [ "$asked" = 1 ] || return 0
    sed -n '/^set /,${ /^set /d; /^# shellcheck/q; s/^# \{0,1\}//p; }' "$tool"
    [ -n "$program" ] || exit 0
    printf '\n'
    [ ! -x "$program" ] || exec "$program" "$@"
    printf 'All options are shown here once it has been built: there is no %s yet.\n' "${program#"$root/"}"
    exit 0
}

# How many compilers fit into the cores and the memory (ten files of tests together take up to 2.4 GB).
build_jobs() {
    local cores memory
    cores=$(nproc 2>/dev/null || echo 1)
    memory=$(awk '/^MemAvailable:/ { print int($2 / 2500000) }' /proc/meminfo 2>/dev/null || echo 1)
    local jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$((cores < memory ? cores : memory))}
    echo $((jobs > 0 ? jobs : 1))
}

# progress LABEL LOG PATTERN: copies its input to LOG and shows that lines that match PATTERN come:
# on a terminal the latest one, elsewhere one in a while. Says nothing where none comes.
progress() {
    local label=$1 log=$2 pattern=$3 line shown=0 width
    local -i began=SECONDS next=SECONDS
    width=$(tput cols 2>/dev/null || echo 80)
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "$line" >&3
        [[ $line =~ $pattern ]] || continue
        shown=1
        if [ -t 2 ]; then
            line="$label: $line"
            printf '\r\033[K%s' "${line:0:width-1}" >&2
        elif ((SECONDS >= next)); then
            say "$label: $line"
            next=$((SECONDS + 20))
        fi
    done 3>"$log"
    if [ "$shown" = 1 ]; then
        [ ! -t 2 ] || printf '\r\033[K' >&2
        say "$label: $((SECONDS - began)) s"
    fi
}

# Whether the build folder of a preset has to be configured (again). Ninja itself notices changed
# CMake files, but neither a changed preset nor an interrupted first time.
configured() {
    local dir=$root/build/$1
    [ -f "$dir/build.ninja" ] && [ -f "$dir/CMakeCache.txt" ] &&
        [ ! "$root/CMakePresets.json" -nt "$dir/build.ninja" ]
}

# configure PRESET [-D...]: with -D always, without only where it is needed.
configure() {
    local preset=$1 log=$root/build/$1/configure.log
    shift
    if [ $# = 0 ] && configured "$preset"; then
        return
    fi
    mkdir -p "$root/build/$preset"
    if ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        die "configuring the preset $preset failed"
    fi
    touch "$root/build/$preset/build.ninja"
}

# build PRESET [--target TARGET...]
build() {
    local preset=$1 log=$root/build/$1/build.log step='^\[[1-9][0-9]*/[0-9]+\] '
    shift
    if ! cmake --build "$root/build/$preset" --parallel "$(build_jobs)" "$@" 2>&1 </dev/null |
        progress "building ($preset)" "$log" "$step"; then
        grep -vE "$step(Building|Linking|Creating|Re-running|Re-checking)" "$log" >&2 || true
        die "building the preset $preset failed; the whole output is in $log"
    fi
    grep -A3 'warning:' "$log" >&2 || true
}
