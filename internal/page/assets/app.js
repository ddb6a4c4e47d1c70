// The page: who comes in, which view is shown, and the keys.

import { enter, follow, leave, live, Problem } from "./api.js";
import { button, fault, h, icon, show, toast } from "./dom.js";
import { servers, troubled } from "./servers.js";
import { approvals } from "./approvals.js";
import { calls } from "./calls.js";
import { tools } from "./tools.js";
import { runs, waiting } from "./runs.js";
import { config, conversations, workflows } from "./read.js";

const views = [
  { path: "servers", name: "Servers", key: "s", draw: servers, badge: () => troubled(live.status).length, bad: true },
  { path: "calls", name: "Calls", key: "c", draw: calls },
  { path: "tools", name: "Tools", key: "t", draw: tools },
  { path: "approvals", name: "Approvals", key: "a", draw: approvals, badge: () => live.approvals.length, admin: true },
  { path: "workflows", name: "Workflows", key: "w", draw: workflows, admin: true },
  { path: "runs", name: "Runs", key: "r", draw: runs, badge: waiting },
  { path: "conversations", name: "Conversations", key: "v", draw: conversations },
  { path: "config", name: "Configuration", key: "o", draw: config, admin: true },
];

const app = document.getElementById("app");
let me = null;
let session = null; // ends when the viewer leaves
let current = null; // ends when the view is left
let way = "key";

// Each view has an element and a signal of its own: what it asked for and gets late is drawn where nobody looks any more.
function route() {
  if (!me) return;
  const [path, ...rest] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/").map(decode);
  const view = open().find((v) => v.path === path) || open()[0];
  if (current) current.abort();
  current = new AbortController();
  const signal = AbortSignal.any([current.signal, session.signal]);
  const el = h("main", { id: "content", tabindex: "-1", class: "view " + view.path, "data-view": view.path });
  const before = document.querySelector("main");
  const inside = before.contains(document.activeElement); // who opened something in the view goes on in what it leads to
  before.replaceWith(el);
  if (inside) el.focus({ preventScroll: true });
  document.title = view.name + " · workbench";
  for (const a of document.querySelectorAll("nav a")) {
    if (a.dataset.path === view.path) {
      a.setAttribute("aria-current", "page");
      a.scrollIntoView({ block: "nearest", inline: "center" }); // there is no room for all on a phone
    } else a.removeAttribute("aria-current");
  }
  Promise.resolve(view.draw(el, { signal, me, path: rest, go })).catch((err) => {
    if (err.name !== "AbortError" && !signal.aborted) show(el, h("header", { class: "head" }, h("h1", {}, view.name)), fault(err));
    if (err.status === 401) out(err);
  });
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// go shows another view, or another part of one.
export function go(...parts) {
  location.hash = "#/" + parts.map(encodeURIComponent).join("/");
}

function open() {
  return views.filter((v) => me.admin || !v.admin);
}

function frame() {
  show(app,
    h("div", { class: "frame", "data-key": "frame" },
      h("aside", { class: "side" },
        h("a", { class: "brand", href: "#/servers", "aria-label": "workbench" }, h("img", { src: "icon.svg", alt: "", width: 24, height: 24 }), h("span", {}, "workbench")),
        h("nav", { "aria-label": "Views" }, open().map((v) =>
          h("a", { href: "#/" + v.path, "data-path": v.path, title: `${v.name} (g ${v.key})` }, icon(v.path), h("span", { class: "label" }, v.name), h("span", { class: v.bad ? "badge bad" : "badge", hidden: true })))),
        h("div", { class: "foot" },
          h("p", { class: "state", id: "state", role: "status" }),
          h("div", { class: "row" },
            h("button", { type: "button", class: "quiet", "aria-label": "Change between light and dark", title: "Light or dark (t)", onclick: turn }, icon("sun")),
            h("button", { type: "button", class: "quiet", "aria-label": "Show the keys", title: "Keys (?)", onclick: help }, icon("keys")),
            h("button", { type: "button", class: "quiet", "aria-label": "Log out", title: "Log out", onclick: () => leave().catch(() => {}).then(() => out()) }, icon("leave"))))),
      h("main", { id: "content" })));
  badges();
  state();
}

function badges() {
  for (const v of views) {
    const el = document.querySelector(`nav a[data-path="${v.path}"] .badge`);
    if (!el || !v.badge) continue;
    const n = v.badge();
    el.textContent = n;
    el.hidden = n === 0;
  }
}

const words = { live: "Live", lost: "Connection lost, trying again", connecting: "Connecting" };

function state() {
  const el = document.getElementById("state");
  if (!el) return;
  el.dataset.state = live.state;
  show(el, h("span", { class: "dot" }), h("span", { class: "label" }, words[live.state]));
}

live.on(["status", "approvals", "runs"], badges);
live.on(["state"], state);

async function start() {
  const key = /^#key=([^&]+)$/.exec(location.hash);
  if (key) history.replaceState(null, "", location.pathname); // the address is not to be seen, nor kept, once it was used
  let failed;
  try {
    me = await enter(key ? decode(key[1]) : undefined);
  } catch (err) {
    failed = err;
    way = err.way || way;
    if (way === "open" && err.status === 401) me = await enter("");
    else if (key) me = await enter().catch(() => null); // this browser came in before
  }
  if (!me) {
    gate(key || !failed.status ? failed : null);
    return;
  }
  begin();
}

function begin() {
  session = new AbortController();
  frame();
  route();
  follow(session.signal).catch(out);
}

function out(err) {
  if (session) session.abort();
  me = null;
  way = (err && err.way) || way;
  if (way === "open" && err) {
    start();
    return;
  }
  gate(null);
}

// gate asks for what lets in.
function gate(failed) {
  document.title = "workbench";
  const said = h("div", {});
  if (failed) show(said, fault(failed));
  const token = h("input", { type: "password", id: "token", autocomplete: "current-password", required: true, spellcheck: "false" });
  const form = h("form", {
    onsubmit: async (e) => {
      e.preventDefault();
      try {
        me = await enter(token.value.trim());
        begin();
      } catch (err) {
        show(said, fault(err));
        token.select();
      }
    },
  }, h("label", { for: "token" }, "Token"), token, h("button", { type: "submit", class: "main" }, h("span", {}, "Log in")),
  h("p", { class: "hint" }, "workbench token, run where the gateway runs, prints it; workbench token create makes one for a person."));
  show(app, h("main", { id: "content", class: "gate", "data-key": "gate" + Math.random() },
    h("img", { src: "icon.svg", alt: "", width: 44, height: 44 }), h("h1", {}, "workbench"), said,
    way === "token" ? form : [h("p", {}, "You are not logged in in this browser."), h("p", { class: "hint" }, "Run ", h("code", {}, "workbench ui"), ". It prints an address that lets in once."),
      failed && !failed.status && button("Try again", () => location.reload(), { class: "main" })]));
  if (way === "token") token.focus();
}

// The theme is that of the system until it is changed here.
function turn() {
  const dark = theme() === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("workbench.theme", document.documentElement.dataset.theme);
  } catch {
    // it lasts as long as the page
  }
}

function theme() {
  return document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

try {
  const kept = localStorage.getItem("workbench.theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
} catch {
  // that of the system it is
}

function help() {
  const keys = [...open().map((v) => [`g ${v.key}`, v.name]), ["/", "Filter"], ["t", "Light or dark"], ["?", "These keys"], ["Esc", "Close, or leave a field"]];
  const dialog = h("dialog", { "aria-label": "Keys" },
    h("h2", {}, "Keys"), h("dl", { class: "keys" }, keys.map(([k, what]) => [h("dt", {}, k.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, what)])),
    h("form", { method: "dialog" }, h("button", { class: "main" }, h("span", {}, "Close"))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

let lead = 0; // when g was pressed
addEventListener("keydown", (e) => {
  if (!me || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  const field = e.target.closest("input, textarea, select, [contenteditable]");
  if (field) {
    if (e.key === "Escape") field.blur();
    return;
  }
  const led = Date.now() - lead < 1500;
  lead = 0;
  const view = led && open().find((v) => v.key === e.key);
  if (view) go(view.path);
  else if (e.key === "g") lead = Date.now();
  else if (e.key === "t") turn();
  else if (e.key === "?") help();
  else if (e.key === "/") {
    const filter = document.querySelector("main input[type=search]");
    if (!filter) return;
    filter.focus();
  } else return;
  e.preventDefault();
});

// Its target is no view, and so nothing to go to.
document.querySelector(".skip").onclick = (e) => {
  e.preventDefault();
  document.getElementById("content").focus();
};

addEventListener("hashchange", () => {
  if (/^#key=/.test(location.hash)) location.reload();
  else route();
});

addEventListener("unhandledrejection", (e) => {
  if (e.reason && e.reason.name === "AbortError") e.preventDefault();
  else if (e.reason instanceof Problem) toast(e.reason.message, { hint: e.reason.hint, bad: true });
});

start().catch((err) => gate(err));
