# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A fresh Debian in a folder, for the tools that try corozk there; sourced after lib.sh, not run.
# Needs root, and debootstrap.

# make_system RELEASE FOLDER LOG: makes it, unless it is there already, and lets it reach packages as
# this machine does.
make_system() {
    local release=$1 system=$2 log=$3
    if [ ! -f "$system/made" ]; then
        rm -rf "$system"
        mkdir -p "$system"
        say "making a Debian $release"
        debootstrap --variant=minbase "$release" "$system" >"$log" 2>&1 ||
            { tail -n 20 "$log" >&2; die "debootstrap failed"; }
        touch "$system/made"
    fi
    cp -r /etc/apt/apt.conf.d "$system/etc/apt/"
    if [ "$release" = "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" ]; then
        cp -r /etc/apt/sources.list.d "$system/etc/apt/"
        cp /etc/apt/sources.list "$system/etc/apt/" 2>/dev/null || true
    fi
    cp /etc/resolv.conf /etc/hosts "$system/etc/" 2>/dev/null || true
    # Not /etc/ssl as a whole: dpkg would ask what to do with its configuration file.
    mkdir -p "$system/etc/ssl"
    cp -r /etc/ssl/certs "$system/etc/ssl/" 2>/dev/null || true
}

# copy_source FOLDER: the project's files, without what else lies around in this checkout.
copy_source() {
    mkdir -p "$1"
    "$root/tools/tracked-files" | tar cf - -C "$root" --verbatim-files-from -T - | tar xf - -C "$1"
}

# inside_system FOLDER COMMAND...: with /proc, which Java insists on, and /dev; mounted for this
# command alone.
inside_system() {
    # shellcheck disable=SC2016 # expanded by that shell
    unshare --mount sh -c 'mkdir -p "$0/proc" && mount -t proc proc "$0/proc" &&
        mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"' "$@"
}

# remove_other_boost FOLDER VERSION: Debian allows one Boost at a time.
remove_other_boost() {
    # shellcheck disable=SC2016 # expanded by that shell
    inside_system "$1" sh -c 'installed=$(dpkg-query -W -f "\${Package}\n" "libboost*-dev" 2>/dev/null |
            grep -v "^libboost$0-dev$" || true)
        [ -z "$installed" ] || apt-get purge --yes $installed || true' "$2"
}
