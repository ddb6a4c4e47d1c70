// The tools of all toolboxes, what their definitions cost, and a form to call each.

import { ask, live } from "./api.js";
import { button, copy, count, empty, fault, h, icon, number, show, toast } from "./dom.js";
import { form } from "./form.js";
import { isObject, parse } from "./json.js";
import { question } from "./question.js";
import { result } from "./result.js";
import { each } from "./servers.js";

let sought = ""; // the filter, which stays while tools are looked at

// filled has the arguments that a form begins with, by the full name of its tool: those of a call that is repeated.
export const filled = new Map();

export async function tools(el, { signal, path, go }) {
  const known = await ask("toolboxes", {}, { signal });
  const [box, server, tool] = path;
  const side = h("div", { class: "picker", role: "navigation", "aria-label": "Toolboxes and tools" });
  const body = h("div", { class: "pane" });
  const filter = h("input", { type: "search", placeholder: "Filter tools", "aria-label": "Filter tools", value: sought, oninput: () => { sought = filter.value; list(); } });
  show(el,
    h("header", { class: "head" }, h("h1", {}, "Tools"),
      h("p", { class: "sub" }, `All definitions are about ${count(known.costs.all, "token")}; a client is told ${number(known.costs.at_once)} at once (toolMode ${known.tool_mode}).`)),
    known.toolboxes.length === 0 ? empty("There is no toolbox yet", "workbench add puts a server into one.")
      : h("div", { class: "split" + (tool ? " deep" : "") }, h("div", {}, filter, side), body));
  const all = new Map(); // definitions, by toolbox
  let due = 0;
  const soon = () => { due ||= setTimeout(() => { due = 0; list(); }, 30); }; // toolboxes that come together are drawn at once
  const list = () => {
    const costs = new Map(known.toolboxes.map((b) => [b.name, cost(all.get(b.name))]));
    const most = Math.max(1, ...costs.values());
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (d) => words.every((w) => `${d.toolbox}/${d.server}/${d.definition.name} ${d.definition.title || ""} ${d.definition.description || ""}`.toLowerCase().includes(w));
    show(side, known.toolboxes.map((b) => {
      const defs = (all.get(b.name) || []).filter(fits);
      if (words.length > 0 && defs.length === 0) return null;
      return h("details", { class: "toolbox", "data-key": b.name, open: true },
        h("summary", {}, h("span", { class: "key" }, b.name), h("span", { class: "hint" }, number(costs.get(b.name)), " tokens"),
          h("span", { class: "bar" }, h("span", { style: { width: (100 * costs.get(b.name) / most).toFixed(1) + "%" } }))),
        b.description && h("p", { class: "hint" }, b.description),
        b.servers.map((s) => servers(b, s, defs.filter((d) => d.server === s.name), words)));
    }));
  };
  const servers = (b, s, defs, words) => {
    if (words.length > 0 && defs.length === 0) return null;
    return h("div", { class: "of-server", "data-key": b.name + "/" + s.name },
      h("p", { class: "server" }, s.name, h("span", { class: "hint" }, s.disabled ? " disabled" : s.problem ? " cannot be used" : ` ${count(defs.length, "tool")}, ${number(cost(defs))} tokens`)),
      !s.disabled && !s.problem && defs.length === 0 && button("Start it to see its tools", async () => {
        const opened = await ask("open", { toolbox: b.name }, { signal });
        await load(b);
        await more((opened.structuredContent?.servers || []).filter((one) => one.name === s.name && one.tools > 0).map(() => [b.name, s.name]));
      }, { class: "add", "aria-label": `Start it to see its tools: ${b.name}/${s.name}` }),
      h("ul", { class: "tools" }, defs.map((d) => h("li", { "data-key": d.definition.name },
        h("a", { href: "#/tools/" + [b.name, s.name, d.definition.name].map(encodeURIComponent).join("/"), "aria-current": b.name === box && s.name === server && d.definition.name === tool && "true" },
          h("span", { class: "name" }, d.definition.name), h("span", { class: "hint" }, brief(d.definition)))))));
  };
  const load = async (b) => {
    all.set(b.name, await ask("tools", { toolbox: b.name }, { signal }));
    const fresh = await ask("toolboxes", {}, { signal });
    Object.assign(known, fresh);
    list();
    look();
  };
  // more asks until the tools of servers that run are known, of [toolbox, server] each. They are kept when all lists of a
  // server were read, which can be seconds after it is ready.
  const more = async (running) => {
    const lacking = () => known.toolboxes.filter((b) => running.some(([box, server]) => box === b.name && !all.get(box)?.some((d) => d.server === server)));
    for (let rest = 50; rest < 10000 && lacking().length > 0; rest *= 2) {
      await Promise.all(lacking().map(load));
      if (lacking().length > 0) await new Promise((go) => setTimeout(go, rest));
    }
  };
  let told = "[]";
  const hear = () => {
    const running = [...each(live.status)].filter(({ s }) => s.tools > 0).map(({ box, s }) => [box.name, s.name]);
    if (JSON.stringify(running) === told) return;
    told = JSON.stringify(running);
    more(running).catch(() => {}); // what is wrong with the connection is shown by all views
  };
  let found = null; // the tool that the address names; its form stays as it is once it is there
  const look = () => {
    if (found) return;
    found = (all.get(box) || []).find((d) => d.server === server && d.definition.name === tool);
    if (found) detail(body, found, signal, go);
  };
  const wrong = [];
  await Promise.all(known.toolboxes.map((b) => ask("tools", { toolbox: b.name }, { signal }).then((defs) => { all.set(b.name, defs); soon(); }, (err) => {
    if (err.name === "AbortError") throw err;
    wrong.push(err);
  })));
  clearTimeout(due);
  list();
  if (wrong.length > 0) el.append(fault(wrong[0]));
  look();
  if (!found) show(body, tool ? empty("This tool is not known", "Start its server to see what it offers now.") : empty("Choose a tool", "A form for its arguments is made from its schema."));
  live.on(["status"], hear, signal);
  hear();
}

const lengths = new WeakMap(); // of definitions as JSON: there may be ten thousand, and each word in the filter asks for all

function cost(defs) {
  const length = (def) => {
    if (!lengths.has(def)) lengths.set(def, JSON.stringify(def).length);
    return lengths.get(def);
  };
  return Math.round((defs || []).reduce((n, d) => n + length(d.definition) / 4, 0));
}

function brief(def) {
  return String(def.description || "").trim().split("\n")[0].slice(0, 140);
}

// quoted is a word of a shell.
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

export function asCLI(name, args) {
  const keys = Object.keys(args || {});
  return `workbench call ${quoted(name)}` + (keys.length > 0 ? " " + quoted(JSON.stringify(args)) : "");
}

function detail(el, d, signal, go) {
  const def = d.definition;
  const name = `${d.toolbox}/${d.server}/${def.name}`;
  const notes = Object.entries(def.annotations || {}).filter(([k, v]) => v === true && k.endsWith("Hint")).map(([k]) => k.replace("Hint", "").replace(/([A-Z])/g, " $1").toLowerCase());
  let fields = form(def.inputSchema, filled.get(name));
  const repeated = filled.delete(name);
  const place = h("div", { class: "args" }, fields.el);
  const out = h("div", { class: "outcome", "aria-live": "polite" });
  const asks = h("div", { class: "asks" });
  const text = h("textarea", { class: "code", rows: "10", spellcheck: "false", "aria-label": "Arguments as JSON" });
  let asText = false;
  const read = () => {
    if (!asText) return fields.value();
    const v = parse(text.value || "{}");
    if (!isObject(v)) throw new Error("the arguments are one JSON object");
    return v;
  };
  const wrong = (err) => {
    show(out, fault(err));
    if (err.field) err.field.focus();
  };
  const swap = (e) => {
    try {
      const v = read();
      if (asText) {
        fields = form(def.inputSchema, v);
        show(place);
        place.append(fields.el);
      } else {
        text.value = JSON.stringify(v, null, 2);
        show(place);
        place.append(text);
      }
      asText = !asText;
      e.currentTarget.setAttribute("aria-pressed", String(asText));
    } catch (err) {
      wrong(err);
    }
  };
  let stop = null;
  const run = h("button", { type: "submit", class: "main" }, icon("play"), h("span", {}, "Call"));
  const cancel = h("button", { type: "button", hidden: true, onclick: () => stop && stop.abort() }, "Cancel");
  const call = async (e) => {
    e.preventDefault();
    if (stop) return;
    let args;
    try {
      args = read();
    } catch (err) {
      wrong(err);
      return;
    }
    stop = new AbortController();
    run.disabled = true;
    cancel.hidden = false;
    const began = performance.now();
    const took = () => `${((performance.now() - began) / 1000).toFixed(2)} s`;
    show(out, h("p", { class: "chip pending" }, h("span", { class: "dot" }), "called"));
    try {
      const r = await ask("call", { toolbox: d.toolbox, server: d.server, tool: def.name, arguments: args }, {
        signal: AbortSignal.any([signal, stop.signal]),
        note({ progress: p, question: asked }) {
          if (!asked) {
            show(out, h("p", { class: "chip pending" }, h("span", { class: "dot" }), p.message || "under way"),
              p.total ? h("progress", { max: String(p.total), value: String(p.progress), "aria-label": "Progress" }) : null);
            return;
          }
          asks.append(question(asked));
          (asks.lastChild.querySelector("input, textarea, select, a") || asks.lastChild).focus();
        },
      });
      show(out);
      out.append(result(r, took()));
    } catch (err) {
      if (signal.aborted) return;
      if (err.name === "AbortError") show(out, h("p", { class: "hint" }, `Cancelled after ${took()}.`));
      else show(out, fault(err));
    } finally {
      stop = null;
      show(asks);
      run.disabled = false;
      cancel.hidden = true;
    }
  };
  show(el);
  show(el,
    h("a", { class: "button back", href: "#/tools" }, icon("back"), "All tools"),
    h("header", {}, h("h2", { class: "name" }, h("span", { class: "of" }, `${d.toolbox}/${d.server}/`), def.name),
      h("p", { class: "facts" }, def.title && def.title + " · ", `about ${count(Math.ceil(JSON.stringify(def).length / 4), "token")}`, d.seen && ` · seen ${new Date(d.seen).toLocaleString()}`, notes.map((n) => [" · ", n]))),
    def.description && h("p", { class: "description" }, def.description),
    h("form", { class: "form", onsubmit: call, novalidate: true }, repeated && h("p", { class: "hint" }, "With the arguments of a call that was recorded."), place,
      h("div", { class: "row" }, run, cancel, h("span", { class: "grow" }),
        h("button", { type: "button", class: "quiet", "aria-pressed": "false", onclick: swap }, "Edit as JSON"),
        h("button", {
          type: "button", class: "quiet", onclick() {
            try {
              copy(asCLI(name, read()));
            } catch (err) {
              wrong(err);
            }
          },
        }, "Copy as CLI"))),
    asks, out,
    h("details", { class: "schema" }, h("summary", {}, "Definition"), h("pre", { class: "out", tabindex: "0", "aria-label": "Definition" }, JSON.stringify(def, null, 2))));
}
