# SPDX-License-Identifier: Apache-2.0
#
# Completion for fish, of corozk and corozk-bench: the program itself knows the candidates.

function __corozk_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    # Another command follows "--".
    if set -l dashes (contains -i -- -- $words)
        set -l command (string escape -- $words[(math $dashes + 1)..-1])
        complete -C (string join ' ' -- $command "$word")
        return
    end
    # As the program gets it, also while a quote is open. Fish quotes what it inserts.
    set -l plain (string unescape -- "$word")
    set -l program $words[1]
    if string match -q '~/*' -- $program
        set program $HOME/(string sub -s 3 -- $program)
    end
    set -l candidates ($program --complete $words[2..-1] "$plain" 2>/dev/null)
    if test (count $candidates) = 0
        __fish_complete_path "$word"
        return
    end
    string join \n -- $candidates
    # The path may continue: of two candidates that differ only there, none ends with a space.
    if test (count $candidates) = 1; and string match -q '/*' -- $candidates
        echo $candidates/
    end
end

complete -c corozk -f -a '(__corozk_candidates)'
complete -c corozk-bench -f -a '(__corozk_candidates)'
