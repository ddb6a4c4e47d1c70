// The servers of all workbenches that run: where they stand, why, and what to do.

import { ask, live } from "./api.js";
import { ago, button, bytes, count, empty, fault, h, icon, number, show, toast } from "./dom.js";

const well = new Set(["ready", "stopped", "disabled", "starting", "installing", "idle"]);

// each gives the servers of a document of status, with the workbench, the session and the toolbox that they are in.
export function* each(workbenches) {
  for (const w of workbenches || []) {
    for (const box of w.shared || []) for (const s of box.servers) yield { w, box, s };
    for (const session of w.sessions) for (const box of session.toolboxes) for (const s of box.servers) yield { w, session, box, s };
  }
}

export function troubled(workbenches) {
  return [...each(workbenches)].filter(({ s }) => !well.has(s.state) || (s.state === "starting" && s.cause));
}

export async function servers(el, { signal, me, go }) {
  let known = null; // the toolboxes of the configuration
  let failed = null;
  const draw = () => {
    if (!signal.aborted) show(el, picture(known, failed, me, go, load));
  };
  const load = async () => {
    try {
      known = await ask("toolboxes", {}, { signal });
      failed = null;
    } catch (err) {
      if (err.name === "AbortError") return;
      failed = err;
    }
    draw();
  };
  live.on(["status", "state"], draw, signal);
  // What is configured changes with the states of servers, or by somebody's hand.
  let last = "";
  live.on(["status"], () => {
    const now = JSON.stringify([...each(live.status)].map(({ box, s }) => [box.name, s.name, s.state, s.tools]));
    if (now !== last) load();
    last = now;
  }, signal);
  draw();
  await load();
}

function picture(known, failed, me, go, load) {
  const all = [...each(live.status)];
  const bad = troubled(live.status);
  const ready = all.filter(({ s }) => s.state === "ready").length;
  const running = (live.status || []).filter((w) => !own(w)).length;
  return [
    h("header", { class: "head" }, h("h1", {}, "Servers"),
      h("p", { class: "sub" }, live.status
        ? [count(running, "workbench", "workbenches"), " · ", count(all.length, "open server"), " · ", number(ready), " ready", bad.length > 0 && h("span", { class: "warn" }, " · ", count(bad.length, "server needs", "servers need"), " attention")]
        : "Looking for the workbenches that run…")),
    bad.length > 0 && h("section", { "aria-label": "Needs attention", "data-key": "bad" },
      h("h2", {}, "Needs attention"), h("div", { class: "cards" }, bad.map((one) => trouble(one, me, load)))),
    (live.status || []).filter((w) => !own(w) || all.some((one) => one.w === w)).map((w) => workbench(w, me, load)),
    failed && h("div", { "data-key": "failed" }, fault(failed)),
    known && configured(known, all, me, go, load),
  ];
}

// own reports whether a workbench is that of this page, which is of interest once it has servers.
function own(w) {
  return (w.address || "").endsWith("/ui/");
}

function id({ w, session, box, s }) {
  return [w.pid, session ? session.since : "", box.name, s.name].join("/");
}

function trouble(one, me, load) {
  const { w, session, box, s } = one;
  return h("article", { class: "card trouble", "data-key": id(one), "data-server": box.name + "/" + s.name },
    h("div", { class: "title" }, state(s), h("h3", { class: "name" }, h("span", { class: "of" }, box.name + "/"), s.name),
      h("span", { class: "where" }, session && session.client ? session.client : "shared", w.pid ? ` · pid ${w.pid}` : "")),
    s.cause && h("pre", { class: "cause", tabindex: "0", "aria-label": "Cause" }, s.cause),
    s.advice && h("p", { class: "advice" }, s.advice),
    s.next_try && h("p", { class: "hint" }, "It is tried again by itself."),
    notes(s), h("div", { class: "row" }, buttons(one, me, load)));
}

function notes(s) {
  return s.notes && s.notes.length > 0 && h("ul", { class: "notes" }, s.notes.map((n) => h("li", {}, n)));
}

function buttons({ w, box, s }, me, load) {
  const list = [];
  const name = box.name + "/" + s.name;
  if (me.admin && s.state === "needs-login") {
    list.push(button("Log in", () => login(box.name, s.name, w.pid), { class: "main", "aria-label": "Log in to " + name }));
  }
  if (["backoff", "circuit-open", "needs-login"].includes(s.state)) {
    list.push(button("Retry now", async () => {
      await ask("restart", { pid: w.pid, toolbox: box.name, server: s.name });
      toast(`${name} is tried again`);
    }, { symbol: "retry", "aria-label": "Retry now: " + name }));
  }
  if (s.state === "ready" && (me.admin || w.sessions.length > 0)) {
    list.push(button("Restart", async () => {
      await ask("restart", { pid: w.pid, toolbox: box.name, server: s.name });
      toast(`${name} is started anew`);
    }, { "aria-label": "Restart " + name, title: s.in_flight > 0 ? "The calls that it has are lost" : undefined }));
  }
  if (me.admin && s.state === "disabled") {
    list.push(button("Enable", () => able(box.name, s.name, true, load, w.pid), { "aria-label": "Enable " + name }));
  } else if (me.admin) {
    list.push(button("Disable", () => able(box.name, s.name, false, load, w.pid), { "aria-label": "Disable " + name }));
  }
  return list;
}

// A server of a workbench, by its pid, is meant as the configuration of that workbench has it.
async function able(toolbox, server, enabled, load, pid) {
  await ask("able", { toolbox, server, enabled, pid });
  toast(`${toolbox}/${server}: ${enabled ? "enabled" : "disabled"}`);
  await load();
}

async function login(toolbox, server, pid) {
  let said;
  try {
    await ask("login", { toolbox, server, pid }, {
      note({ address }) {
        if (!/^https?:\/\//.test(address)) return;
        said = toast(`Log in to ${toolbox}/${server}`, { link: h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, "Open the login page") });
      },
    });
    toast(`Logged in to ${toolbox}/${server}`);
  } finally {
    if (said) said.remove();
  }
}

export function state(s) {
  return h("span", { class: "chip " + s.state, "data-state": s.state }, h("span", { class: "dot" }), s.state);
}

function workbench(w, me, load) {
  const sessions = w.sessions.filter((one) => one.toolboxes.length > 0);
  const idle = w.sessions.length - sessions.length;
  const first = w.sessions[0];
  const name = w.sessions.length === 1 && first.client ? [first.client, h("span", { class: "of" }, " ", first.client_version)]
    : w.address ? (own(w) ? "This page" : "HTTP gateway") : "workbench";
  return h("section", { class: "workbench", "data-key": "w" + w.pid, "aria-label": "Workbench " + (w.pid || "") },
    h("header", {}, h("h2", {}, name),
      h("p", { class: "facts" }, w.pid ? `pid ${w.pid}` : "", " · since ", ago(w.since), w.rss_bytes ? ` · ${bytes(w.rss_bytes)}` : "", w.dir ? h("span", { class: "path" }, " · ", w.dir) : "", w.version && ` · ${w.version}`)),
    w.config_problem && h("p", { class: "warnline" }, icon("alert"), "The configuration file has a fault, and the one before goes on: ", w.config_problem),
    w.reloaded && h("p", { class: "facts pad" }, "Configuration reloaded · ", ago(w.reloaded.at), " · ", w.reloaded.changed),
    w.untrusted && h("p", { class: "warnline" }, icon("alert"), w.untrusted),
    (w.shared || []).length > 0 && table(w, null, w.shared, "Shared by all clients", me, load),
    sessions.map((s) => table(w, s, s.toolboxes, w.sessions.length > 1 ? [s.client || "a client", s.user ? ` (${s.user})` : ""] : null, me, load)),
    sessions.length === 0 && (w.shared || []).length === 0 && h("p", { class: "hint pad" }, idle > 0 ? "No toolbox is open." : "No client is connected."));
}

function table(w, session, boxes, caption, me, load) {
  const calls = new Map((w.calls || []).map((c) => [c.toolbox + "/" + c.server, c]));
  return h("div", { class: "scroll", "data-key": session ? session.since : "shared" }, h("table", { class: "list" },
    caption && h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ["Server", "State", "Tools", "Calls", "Since", "Actions"].map((name, i) => h("th", { scope: "col", class: i > 1 && i < 5 ? "n" : "" }, i === 5 ? h("span", { class: "hide" }, name) : name)))),
    h("tbody", {}, boxes.map((box) => box.servers.map((s) => {
      const n = calls.get(box.name + "/" + s.name) || {};
      const failed = (n.tool_error || 0) + (n.error || 0) + (n.refused || 0) + (n.lost || 0);
      return h("tr", { "data-key": box.name + "/" + s.name, "data-server": box.name + "/" + s.name },
        h("th", { scope: "row", class: "name" }, h("span", { class: "of" }, box.name + "/"), s.name, notes(s)),
        h("td", {}, state(s)),
        h("td", { class: "n" }, number(s.tools)),
        h("td", { class: "n" }, number((n.ok || 0) + failed), failed > 0 && [" · ", h("a", { class: "warn", href: `#/calls/failed/${encodeURIComponent(box.name)}/${encodeURIComponent(s.name)}`, title: "Show the last of them" }, `${number(failed)} failed`)], s.in_flight > 0 && h("span", { class: "hint" }, ` · ${s.in_flight} now`)),
        h("td", { class: "n" }, ago(s.since)),
        h("td", { class: "do" }, h("div", { class: "row" }, buttons({ w, box, s }, me, load))));
    })))));
}

// configured lists the servers of the configuration that no workbench has open.
function configured(known, all, me, go, load) {
  const open = new Set(all.map(({ box, s }) => box.name + "/" + s.name));
  const rest = known.toolboxes.flatMap((b) => b.servers.map((s) => ({ b, s }))).filter(({ b, s }) => !open.has(b.name + "/" + s.name));
  if (known.toolboxes.length === 0) return empty("The configuration has no servers yet", "workbench add puts one in, and workbench import takes those of your clients over.");
  if (rest.length === 0) return null;
  return h("section", { class: "workbench", "data-key": "configured", "aria-label": "Not running" },
    h("header", {}, h("h2", {}, "Not running"), h("p", { class: "facts" }, "in the configuration; an agent starts them when it opens their toolbox")),
    h("div", { class: "scroll" }, h("table", { class: "list" },
      h("thead", {}, h("tr", {}, ["Server", "State", "Tools", "Tokens", "Last seen", "Actions"].map((name, i) => h("th", { scope: "col", class: i > 1 && i < 5 ? "n" : "" }, i === 5 ? h("span", { class: "hide" }, name) : name)))),
      h("tbody", {}, rest.map(({ b, s }) => h("tr", { "data-key": b.name + "/" + s.name, "data-server": b.name + "/" + s.name },
        h("th", { scope: "row", class: "name" }, h("span", { class: "of" }, b.name + "/"), s.name, s.problem && h("p", { class: "warn" }, s.problem)),
        h("td", {}, state({ state: s.problem ? "failed" : s.disabled ? "disabled" : "stopped" })),
        h("td", { class: "n" }, s.seen || s.tools ? number(s.tools) : "–"),
        h("td", { class: "n" }, s.seen || s.tools ? number(s.tokens) : "–"),
        h("td", { class: "n" }, s.seen ? s.seen : s.transport === "builtin" ? "built in" : "never"),
        h("td", { class: "do" }, h("div", { class: "row" }, !s.disabled && !s.problem && button("Start", async () => {
          await ask("open", { toolbox: b.name });
          toast(`${b.name} is open on this page`);
        }, { "aria-label": "Start " + b.name + "/" + s.name }),
        me.admin && (s.disabled
          ? button("Enable", () => able(b.name, s.name, true, load), { class: "main", "aria-label": "Enable " + b.name + "/" + s.name })
          : button("Disable", () => able(b.name, s.name, false, load), { "aria-label": "Disable " + b.name + "/" + s.name }))))))))));
}
