// SPDX-License-Identifier: Apache-2.0
// The status page, which follows /events.
#pragma once

inline constexpr const char* status_page = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>corozk example service</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
  h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin: 1.5rem 0 .3rem }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #8884 }
  .good { color: #1a7f37 } .bad { color: #cf222e }
</style>
<h1>corozk example service</h1>
<p>Instance <b id="self">?</b>, session <b id="session">?</b>, last change <b id="when">never</b></p>
<h2>Members</h2>
<table><thead><tr><th>name<th>address<th>role</thead><tbody id="members"></tbody></table>
<h2>Work</h2>
<p><span id="waiting">?</span> jobs wait, this instance has done <span id="done">?</span>
and put <span id="aside">?</span> aside that cannot be done.
The leader's periodic job has run <span id="ticks">?</span> times.</p>
<script>
const show = (id, text) => document.getElementById(id).textContent = text;
const events = new EventSource("/events");
events.onerror = () => {
  show("session", "this instance does not respond");
  document.getElementById("session").className = "bad";
};
events.onmessage = event => {
  const status = JSON.parse(event.data);
  show("self", status.self); show("waiting", status.waiting); show("done", status.done);
  show("ticks", status.ticks ?? "?"); show("aside", status.put_aside); show("when", new Date().toLocaleTimeString());
  show("session", status.session);
  document.getElementById("session").className = status.session === "connected" ? "good" : "bad";
  document.getElementById("members").replaceChildren(...status.members.map(member => {
    const row = document.createElement("tr");
    for (const text of [member.name, member.address, member.leader ? "leader" : "member"])
      row.appendChild(document.createElement("td")).textContent = text;
    return row;
  }));
};
</script>
</html>
)";
