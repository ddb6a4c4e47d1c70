// What is there to read: the configuration with its faults, workflows, and conversations.

import { ask, live } from "./api.js";
import { ago, count, empty, h, icon, latest, show } from "./dom.js";

export async function config(el, { signal }) {
  // What the files say now is known anew once a workbench has read them, or could not.
  const told = () => JSON.stringify((live.status || []).map((w) => [w.pid, w.config_problem, w.reloaded]));
  let last = told();
  live.on(["status"], () => {
    if (told() === last) return;
    last = told();
    draw(el, signal).catch(() => {});
  }, signal);
  await draw(el, signal);
}

async function draw(el, signal) {
  const c = await ask("config", {}, { signal });
  const reloads = (live.status || []).filter((w) => w.reloaded);
  const findings = (c.checked && c.checked.findings) || [];
  show(el,
    h("header", { class: "head" }, h("h1", {}, "Configuration"), h("p", { class: "sub" }, "As the files are now. Values that may be secrets are left out. It is changed with an editor, or by workbench add, remove, enable, disable and move.")),
    c.faults.length > 0 && h("section", { "aria-label": "Faults" }, h("h2", {}, count(c.faults.length, "fault")),
      h("div", { class: "cards" }, c.faults.map((f) => h("article", { class: "card trouble" }, h("p", { class: "facts" }, f.file, f.line > 0 && [" · line ", String(f.line)]), h("p", {}, f.message), f.hint && h("p", { class: "hint" }, f.hint))))),
    findings.length > 0 && h("section", { "aria-label": "What workbench check finds" }, h("h2", {}, "What workbench check finds"),
      h("div", { class: "cards" }, findings.map((f) => h("article", { class: "card" }, h("div", { class: "title" }, h("span", { class: "chip " + (f.level === "fault" ? "bad" : f.level === "warning" ? "pending" : "") }, f.level),
        f.server && h("span", { class: "name" }, `${f.toolbox}/${f.server}`)), h("p", {}, f.message), f.remedy && h("p", { class: "hint" }, f.remedy))))),
    c.faults.length === 0 && findings.length === 0 && c.files.length > 0 && h("p", { class: "chip ok" }, h("span", { class: "dot" }), "no faults"),
    reloads.length > 0 && h("section", { "aria-label": "What reloads changed" }, h("h2", {}, "What the last reload changed"),
      h("div", { class: "cards" }, reloads.map((w) => h("article", { class: "card", "data-key": String(w.pid) }, h("p", { class: "facts" }, (w.sessions[0] && w.sessions[0].client) || "workbench", ` · pid ${w.pid} · `, ago(w.reloaded.at)), h("p", {}, w.reloaded.changed))))),
    c.files.length === 0 && empty("There is no configuration yet", "workbench init writes one; until then the built-in one is used."),
    c.files.map((f) => h("section", { class: "workbench", "aria-label": f.path }, h("header", {}, h("h2", { class: "name" }, f.path)), f.text === "" ? h("p", { class: "hint pad" }, "It cannot be read as a configuration, and is not shown.") : lines(f, c.faults))));
}

function lines(f, faults) {
  const bad = new Map(faults.filter((one) => one.file === f.path).map((one) => [one.line, one.hint ? `${one.message} (${one.hint})` : one.message]));
  return h("div", { class: "scroll" }, h("table", { class: "source" }, h("tbody", {}, f.text.replace(/\n$/, "").split("\n").map((line, i) =>
    h("tr", { class: bad.has(i + 1) && "bad" }, h("td", { class: "n" }, String(i + 1)), h("td", {}, h("code", {}, line), bad.has(i + 1) && h("p", { class: "why" }, icon("alert"), bad.get(i + 1))))))));
}

export async function workflows(el, { signal, path }) {
  if (path[0]) return workflow(el, path[0], signal);
  const list = await ask("workflows", {}, { signal });
  show(el,
    h("header", { class: "head" }, h("h1", {}, "Workflows"), h("p", { class: "sub" }, count(list.workflows.length, "workflow"), list.invalid.length > 0 && [", ", count(list.invalid.length, "file"), " not valid"])),
    list.invalid.map((f) => h("article", { class: "card trouble" }, h("h2", { class: "name" }, f.file || f.File || (f.Place && f.Place.File) || ""), h("ul", { class: "notes" }, (f.faults || f.Faults || []).map((one) => h("li", {}, typeof one === "string" ? one : one.message || one.Message || JSON.stringify(one)))))),
    h("div", { class: "cards two" }, list.workflows.map((w) => h("a", { class: "card", href: "#/workflows/" + encodeURIComponent(w.id) },
      h("div", { class: "title" }, h("h2", {}, w.name), h("span", { class: "where" }, w.version)), h("p", { class: "clip" }, w.description),
      h("p", { class: "facts" }, w.id, " · ", count(w.steps, "step"), " · ", w.origin)))));
}

async function workflow(el, id, signal) {
  const w = await ask("workflow", { id }, { signal });
  const step = (s, i) => h("li", {}, h("h3", {}, s.title || s.id || `step ${i + 1}`), h("p", { class: "clip" }, s.prompt || s.description || s.goal || ""),
    s.runCondition && h("pre", { class: "out" }, JSON.stringify(s.runCondition)), Array.isArray(s.body) && h("ol", {}, s.body.map(step)));
  show(el,
    h("a", { class: "button back", href: "#/workflows" }, icon("back"), "All workflows"),
    h("header", { class: "head" }, h("h1", {}, w.name || id), h("p", { class: "sub" }, id, " ", w.version)), h("p", { class: "description" }, w.description),
    h("ol", { class: "steps" }, (w.steps || []).map(step)),
    h("details", { class: "schema" }, h("summary", {}, "Definition"), h("pre", { class: "out", tabindex: "0", "aria-label": "Definition" }, JSON.stringify(w, null, 2))));
}

export async function conversations(el, { signal, path }) {
  if (path[0]) return conversation(el, path[0], signal);
  const list = await ask("conversations", {}, { signal });
  show(el,
    h("header", { class: "head" }, h("h1", {}, "Conversations"), h("p", { class: "sub" }, "with command workflows, the latest first", list.length > 0 && [" · ", latest(list, "conversation")])),
    list.length === 0 && empty("No conversations have been kept", "workbench commands serves command workflows, whose conversations are kept."),
    h("div", { class: "cards" }, list.map((c) => h("a", { class: "card", href: "#/conversations/" + encodeURIComponent(c.conversation_id) },
      h("div", { class: "title" }, h("h2", {}, c.topic || "(open)"), h("span", { class: "where" }, ago(c.updated_at))),
      h("p", { class: "facts" }, c.workflow, " · ", count(c.turns, "turn"), c.user_id && [" · ", c.user_id])))));
}

async function conversation(el, id, signal) {
  const c = await ask("conversation", { id }, { signal });
  show(el,
    h("a", { class: "button back", href: "#/conversations" }, icon("back"), "All conversations"),
    h("header", { class: "head" }, h("h1", {}, c.topic || "(open)"), h("p", { class: "sub" }, c.workflow, c.summary && [" · ", c.summary])),
    h("ol", { class: "turns" }, (c.turns || []).map((t) => h("li", { class: "card" },
      h("p", { class: "facts" }, t.kind, " ", t.status, t.ended && [" · ", new Date(t.ended).toLocaleString()]), h("p", { class: "said" }, t.message), t.summary && h("p", {}, t.summary),
      h("details", {}, h("summary", {}, "All of it"), h("pre", { class: "out", tabindex: "0", "aria-label": "Turn" }, JSON.stringify(t, null, 2)))))));
}

