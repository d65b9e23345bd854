# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completion for bash, of corozk and corozk-bench: the program itself knows the candidates.

_corozk() {
    local i
    COMPREPLY=()
    # Another command follows "--".
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            if declare -F _command_offset >/dev/null; then
                _command_offset $((i + 1))
            else
                mapfile -t COMPREPLY < <(compgen -c -f -- "${COMP_WORDS[COMP_CWORD]}")
            fi
            return
        fi
    done
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" --complete \
        "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    # The path may continue.
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == /* ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o default -F _corozk corozk corozk-bench
