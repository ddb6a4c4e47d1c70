// Calls as they happen. Only the rows that can be seen are in the document, so that any number of them scrolls.

import { ask } from "./api.js";
import { bytes, copy, empty, fault, h, icon, number, show, toast } from "./dom.js";
import { asCLI, filled } from "./tools.js";
import { json } from "./result.js";

const most = 10000;
const height = 36;

// seen is what one viewer was told so far, and how it is looked at: it stays while calls are opened and closed.
let seen = {};

export async function calls(el, { signal, me, path, go }) {
  if (seen.me !== me) seen = { me, all: [], known: new Map(), missed: 0, words: "", failed: false, top: 0 };
  const { all, known } = seen;
  let shown = [];
  let pinned = seen.top < height; // the newest are looked at
  const filter = h("input", { type: "search", placeholder: "Filter by tool, server, client or error", "aria-label": "Filter calls", value: seen.words, oninput: () => sift() });
  const failed = h("input", { type: "checkbox", id: "failed", checked: seen.failed, onchange: () => sift() });
  const rows = h("div", { class: "rows", role: "rowgroup" });
  const room = h("div", { class: "room" }, rows);
  const scroller = h("div", { class: "scroller", tabindex: "0", role: "table", "aria-label": "Calls, the newest first" }, head(), room);
  const said = h("p", { class: "sub" });
  const body = h("div", { class: "pane" });
  show(el, h("header", { class: "head" }, h("h1", {}, "Calls"), said),
    h("div", { class: "row" }, h("div", { class: "grow" }, filter), h("label", { class: "check", for: "failed" }, failed, "Failed only")));
  el.append(h("div", { class: "split calls-split" + (path[0] ? " deep" : "") }, h("div", { class: "list-pane" }, scroller), body));

  const fits = (c) => {
    if (failed.checked && ["ok", "cancelled", "running"].includes(c.outcome)) return false;
    const text = `${c.toolbox}/${c.server}/${c.tool} ${c.method} ${c.client} ${c.error || ""} ${c.outcome} ${c.id}`.toLowerCase();
    return filter.value.toLowerCase().split(/\s+/).every((w) => text.includes(w));
  };
  const sift = () => {
    seen.words = filter.value;
    seen.failed = failed.checked;
    shown = all.filter(fits);
    draw();
  };
  let asked = false;
  const draw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      if (signal.aborted) return;
      const n = shown.length;
      room.style.height = n * height + "px";
      const from = Math.max(0, Math.floor(scroller.scrollTop / height) - 6);
      const to = Math.min(n, from + Math.ceil(scroller.clientHeight / height) + 14);
      rows.style.transform = `translateY(${from * height}px)`;
      show(rows, shown.length === 0 ? [] : Array.from({ length: to - from }, (_, i) => row(shown[n - 1 - from - i], path[0], n - from - i)));
      scroller.setAttribute("aria-rowcount", String(n + 1));
      show(said, `${number(n)} of ${number(all.length)} calls`, seen.missed > 0 && `, ${number(seen.missed)} more came too fast to show`, pinned ? "" : " · scroll up for the newest");
    });
  };
  scroller.onscroll = () => {
    if (signal.aborted) return;
    seen.top = scroller.scrollTop;
    pinned = seen.top < height;
    draw();
  };
  const take = (list) => {
    let added = 0;
    for (const c of list) {
      const at = known.get(c.id);
      if (at) {
        Object.assign(at, c);
        continue;
      }
      known.set(c.id, c);
      all.push(c);
      if (fits(c)) {
        shown.push(c);
        added++;
      }
    }
    if (all.length > most) {
      for (const c of all.splice(0, all.length - most)) known.delete(c.id);
      shown = all.filter(fits);
    }
    if (!pinned && added > 0) scroller.scrollTop += added * height; // what is looked at stays where it is
    draw();
  };
  if (path[0]) detail(body, path[0] === "failed" ? { toolbox: path[1], server: path[2] } : { id: path[0] }, signal, go);
  else show(body, empty("Choose a call", "Its arguments, its result and what its server wrote are shown here."));
  sift();
  room.style.height = shown.length * height + "px";
  scroller.scrollTop = seen.top;
  new ResizeObserver(draw).observe(scroller);
  for (;;) {
    try {
      await ask("calls", {}, { signal, note: (n) => { seen.missed += n.missed || 0; take(n.calls || []); } });
    } catch (err) {
      if (err.name === "AbortError" || err.status) throw err;
    }
    await new Promise((again) => setTimeout(again, 1000));
    if (signal.aborted) return;
  }
}

function head() {
  return h("div", { class: "call heads", role: "row" }, ["Time", "Tool", "Client", "Took", "Size", "Outcome"].map((t, i) => h("span", { role: "columnheader", class: i === 3 || i === 4 ? "n" : "" }, t)));
}

function time(t) {
  return new Date(t).toLocaleTimeString("en-GB");
}

function millis(ms) {
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function outcome(c) {
  const kind = { ok: "ok", running: "pending", cancelled: "" }[c.outcome] ?? "bad";
  return h("span", { class: "chip " + kind }, h("span", { class: "dot" }), c.outcome.replace("_", " "));
}

function row(c, open, at) {
  return h("div", { class: "call", role: "row", "data-key": c.id, "aria-rowindex": String(at), "aria-current": c.id === open && "true" },
    h("span", { role: "cell", class: "t" }, time(c.time)),
    h("span", { role: "cell", class: "name", title: `${c.toolbox || ""}/${c.server || ""}/${c.tool || c.method}` },
      h("a", { href: "#/calls/" + encodeURIComponent(c.id) }, c.server && h("span", { class: "of" }, `${c.toolbox}/${c.server}/`), c.tool || c.method)),
    h("span", { role: "cell", class: "c" }, c.client || ""),
    h("span", { role: "cell", class: "n" }, millis(c.duration_ms)),
    h("span", { role: "cell", class: "n" }, bytes(c.bytes_out)),
    h("span", { role: "cell" }, outcome(c)));
}

// detail shows a call by its id, or the last that failed of a server.
async function detail(el, which, signal, go) {
  let c;
  try {
    c = await ask("recorded", which, { signal });
  } catch (err) {
    if (err.name !== "AbortError") show(el, h("a", { class: "button back", href: "#/calls" }, icon("back"), "All calls"), fault(err));
    return;
  }
  const name = `${c.toolbox}/${c.server}/${c.tool}`;
  const isTool = c.method === "tools/call" && c.server;
  const facts = [["When", new Date(c.time).toLocaleString()], ["Took", millis(c.duration_ms)], ["Client", c.client], ["User", c.user === "default_user" ? "" : c.user], ["Method", c.method], ["Request", `${bytes(c.bytes_in)}`], ["Reply", `${bytes(c.bytes_out)}, about ${number(c.tokens)} tokens`],
    ["Request id", c.request_id], ["Progress token", c.progress_token], ["Trace", c.trace_id], ["Session", c.session], ["Call", c.id]];
  show(el,
    h("a", { class: "button back", href: "#/calls" }, icon("back"), "All calls"),
    h("header", { class: "row" }, h("h2", { class: "name" }, isTool && h("span", { class: "of" }, `${c.toolbox}/${c.server}/`), c.tool || c.method), outcome(c)),
    c.error && h("pre", { class: "cause", tabindex: "0", "aria-label": "Error" }, c.error),
    h("div", { class: "row" },
      isTool && h("button", {
        type: "button", class: "main", onclick() {
          if (c.arguments) filled.set(name, c.arguments);
          else if (c.arguments_left_out) toast("Its arguments were too long to be kept");
          else if (!c.full) toast("Its arguments were not kept", { hint: "\"record\": \"full\" in the configuration keeps them" });
          go("tools", c.toolbox, c.server, c.tool);
        },
      }, icon("retry"), "Repeat"),
      isTool && h("button", { type: "button", onclick: () => copy(asCLI(name, c.arguments)) }, icon("copy"), "Copy as CLI")),
    h("dl", { class: "facts-list" }, facts.filter(([, v]) => v).map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)])),
    section("Arguments", c.arguments, c.full, c.arguments_left_out, c.masked),
    section("Result", c.result, c.full, c.result_left_out),
    h("h3", {}, "What its server wrote"),
    c.stderr && c.stderr.length > 0
      ? h("pre", { class: "out", tabindex: "0", "aria-label": "Standard error" }, c.stderr.map((line) => `${time(line.time)} ${line.text}\n`))
      : h("p", { class: "hint" }, "Nothing, as far as it was kept."));
}

function section(title, v, full, left, masked) {
  return [h("h3", {}, title, masked && h("span", { class: "hint" }, " with secrets left out")),
    v !== undefined ? json(v) : h("p", { class: "hint" }, left ? "It was too long to be kept." : full ? "There is none." : "It was not kept: \"record\": \"full\" in the configuration keeps arguments and results.")];
}
