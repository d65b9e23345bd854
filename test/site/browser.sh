#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: browser.sh BROWSER SITE
#
# Reads in the site that tools/site has written as a person would: the tree, both searches, links between
# guides and to the reference. Waits for states, never for times; ctest bounds the whole.
set -euo pipefail

browser=$1
site=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work" || true' EXIT

{
    cat <<'END'
document.title.includes("corozk") && document.querySelector("h1, .title") != null
[...document.querySelectorAll("#nav-tree a")].some(a => a.textContent == "Guides")
(e => e != null && setTimeout(() => e.click()) > 0)([...document.querySelectorAll("a")].find(a => a.textContent == "Search the text"))
document.getElementById("words") != null
(w => { w.left = true; location.hash = "#100%"; return setTimeout(() => location.reload()) > 0; })(window)
window.left == undefined && document.readyState == "complete" && document.getElementById("words") != null
(e => { e.value = "response lost UNKNOWN outcomes"; e.dispatchEvent(new Event("input")); return true; })(document.getElementById("words"))
document.querySelectorAll("#found a").length > 0 && document.querySelectorAll("#found a").length < 20
document.querySelector("#found a").textContent == "Unknown outcomes - Sessions and failures"
(e => e != null && setTimeout(() => e.click()) > 0)(document.querySelector("#found a"))
location.hash.endsWith("_unknown-outcomes") && document.getElementById(location.hash.slice(1)) != null
(e => e != null && setTimeout(() => e.click()) > 0)([...document.querySelectorAll(".contents a")].find(a => a.textContent == "Fencing in practice" || a.href.includes("page_doc_fencing")))
document.title.includes("Fencing in practice")
(e => e != null && setTimeout(() => e.click()) > 0)([...document.querySelectorAll(".contents a")].find(a => a.closest("code") && a.href.includes("classcorozk_1_1")))
document.title.includes("Reference") && location.pathname.includes("/classcorozk_1_1")
(e => { e.focus(); e.value = "semaph"; e.dispatchEvent(new KeyboardEvent("keyup", {key: "h"})); searchBox.Search(); return true; })(document.getElementById("MSearchField"))
document.getElementById("MSearchResultsWindow").style.display == "block"
END
    [ -z "${COROZK_SCREENSHOT:-}" ] || echo "screenshot $COROZK_SCREENSHOT"
} >"$work/lines"
python3 "$here/../example/browser.py" "$browser" "$work/profile" "file://$site/index.html" \
    <"$work/lines" >"$work/said" || true
[ "$(grep -c '^ok$' "$work/said")" = "$(wc -l <"$work/lines")" ] || {
    echo "failed in line $(($(grep -c '^ok$' "$work/said") + 1)):" >&2
    cat "$work/lines" >&2
    exit 1
}
echo "the site works"
