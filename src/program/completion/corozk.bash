# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completion for bash, of corozk and corozk-bench: the program itself knows the candidates.

# Splits a line as the shell does, and expands nothing. Sets words, and quote: what is open at the end.
_corozk_split() {
    local line=$1 i c fresh=1 ansi="^\\\$'(([^'\\\\]|\\\\.)*)'"
    words=('') quote=''
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        case $quote$c in
            [[:space:]])
                ((fresh)) || words+=('')
                fresh=1
                continue
                ;;
            \' | \") quote=$c ;;
            \'\' | \"\") quote='' ;;
            \\) words[-1]+=${line: ++i:1} ;;
            \"\\)
                [[ ${line:i+1:1} == [\"\\\$\`] ]] && ((++i))
                words[-1]+=${line:i:1}
                ;;
            \$)
                if [[ ${line:i} =~ $ansi ]]; then
                    words[-1]+=${BASH_REMATCH[1]@E}
                    ((i += ${#BASH_REMATCH[0]} - 1))
                elif [[ ${line:i+1:1} == \' ]]; then
                    quote=$c
                    return
                else
                    words[-1]+=$c
                fi
                ;;
            *) words[-1]+=$c ;;
        esac
        fresh=0
    done
}

_corozk() {
    local i words quote kept candidate line=${COMP_LINE:0:COMP_POINT}
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
    # Of the last word only $2 is replaced: what is before a quote or a colon stays.
    _corozk_split "${line%"$2"}"
    kept=${words[-1]}
    local open=$quote
    _corozk_split "$line"
    # Names are anybody's, and must not mean anything to the shell.
    while IFS= read -r candidate; do
        [[ $candidate == "$kept"?* ]] || continue
        candidate=${candidate#"$kept"}
        case $open in
            '') printf -v candidate %q "$candidate" ;;
            \') candidate=${candidate//\'/\'\\\'\'} ;;
            \")
                # There is no quoting of that there.
                [[ $candidate != *!* ]] || continue
                candidate=${candidate//\\/\\\\}
                candidate=${candidate//\"/\\\"}
                candidate=${candidate//\$/\\\$}
                candidate=${candidate//\`/\\\`}
                ;;
            *) continue ;;
        esac
        COMPREPLY+=("$candidate")
        # A tilde is expanded here, as there it stands in a word of the line, not of this script.
    done < <("${COMP_WORDS[0]/#\~\//$HOME/}" --complete "${words[@]:1}" 2>/dev/null)
    # The path may continue.
    if [[ ${#COMPREPLY[@]} == 1 && $kept${COMPREPLY[0]} == /* ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o default -F _corozk corozk corozk-bench
