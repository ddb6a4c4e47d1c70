// Runs of workflows: where each is, what happened in it, and what it asks a person.

import { ask, live } from "./api.js";
import { ago, button, count, empty, fault, h, icon, latest, number, show, toast } from "./dom.js";
import { json } from "./result.js";

export const waiting = () => live.runs.filter((r) => r.status === "person").length;

export function runs(el, { signal, me, path }) {
  if (path[0]) return run(el, path[0], path[1], me, signal);
  const filter = h("input", { type: "search", placeholder: "Filter by goal, workflow, step or state", "aria-label": "Filter runs", oninput: () => draw() });
  const draw = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = live.runs.filter((r) => words.every((w) => `${r.goal} ${r.workflow} ${r.step || ""} ${r.status} ${name(r)} ${r.run} ${r.repository || ""} ${r.branch || ""}`.toLowerCase().includes(w)));
    const asks = found.filter((r) => r.status === "person");
    const rest = found.filter((r) => r.status !== "person");
    show(el, h("header", { class: "head" }, h("h1", {}, "Runs"), h("p", { class: "sub" }, "of workflows, the latest first", live.runs.length > 0 && [" · ", latest(live.runs, "run"), waiting() > 0 && h("span", { class: "warn" }, ` · ${count(waiting(), "run waits", "runs wait")} for a person`)])),
      live.runs.length > 0 && h("div", { class: "grow whole", "data-key": "filter" }),
      live.runs.length === 0 && empty("No runs have been kept", "An agent starts one with workflow_start; it is kept until it is deleted, and shown here."),
      live.runs.length > 0 && found.length === 0 && empty("No run fits", "Other words may find one."),
      asks.length > 0 && h("section", { "aria-label": "Waiting for a person", "data-key": "asks" }, h("h2", {}, "Waiting for a person"), h("div", { class: "cards" }, asks.map(card))),
      rest.length > 0 && h("section", { "aria-label": "Other runs", "data-key": "rest" }, asks.length > 0 && h("h2", {}, "Others"), h("div", { class: "cards" }, rest.map(card))));
    const place = el.querySelector("[data-key=filter]");
    if (place && filter.parentNode !== place) place.append(filter);
  };
  live.on(["runs"], draw, signal);
  draw();
}

// name is how a run stands in a list: by what it is for.
function name(r) {
  return r.goal || r.workflow;
}

const states = { open: "under way", person: "waits for a person" };

function state(r) {
  const kind = { person: "pending", open: "busy", finished: "ok", expired: "bad" }[r.status] || "";
  return h("span", { class: "chip " + kind, "data-state": r.status }, h("span", { class: "dot" }), states[r.status] || r.status);
}

function card(r) {
  return h("a", { class: "card", "data-key": r.user_id + "/" + r.run, "data-run": r.run, href: "#/runs/" + encodeURIComponent(r.run) + "/" + encodeURIComponent(r.user_id) },
    h("div", { class: "title" }, state(r), h("h3", {}, name(r)), h("span", { class: "where" }, ago(r.updated_at))),
    h("p", { class: "facts" }, r.workflow, " · ", count(r.done, "step"), " done", r.step && r.status !== "finished" && [" · at ", h("span", { class: "name" }, r.step)],
      r.branch && [" · ", r.branch], r.user_id !== "default_user" && [" · ", r.user_id], r.expires_at && [" · expires ", new Date(r.expires_at).toLocaleDateString()]));
}

async function run(el, id, user, me, signal) {
  const body = h("div", { class: "cards", "data-whole": true });
  const standing = () => {
    const at = live.runs.find((r) => r.run === id && (!user || r.user_id === user));
    return at ? at.updated_at + at.status : "";
  };
  let last;
  const load = async () => {
    last = standing();
    const { run: r, question, state: seen, answers, problem } = await ask("run", { id, user: user || "" }, { signal });
    const where = [r.repository, r.branch && "on " + r.branch].filter(Boolean).join(" ");
    const facts = [["Workflow", r.workflow], ["Where", where], ["Client", r.client], ["User", r.user_id === "default_user" ? "" : r.user_id], ["Begun", new Date(r.created_at).toLocaleString()], ["Run", r.run]];
    show(el,
      h("a", { class: "button back", href: "#/runs" }, icon("back"), "All runs"),
      h("header", { class: "head" }, h("h1", {}, name(r)), state(r), h("p", { class: "sub" }, count(r.done, "step"), " done", r.step && r.status !== "finished" && [" · at ", h("span", { class: "name" }, r.step)], " · changed ", ago(r.updated_at))));
    el.append(body);
    show(body);
    show(body,
      problem && fault({ message: problem }),
      question && asking(r, question, seen, answers, me, load),
      h("dl", { class: "facts-list" }, facts.filter(([, v]) => v).map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)])),
      h("h2", {}, "What happened"),
      h("ol", { class: "events" }, (r.events || []).map(event)));
  };
  // Another process or agent may go on with it at any time.
  live.on(["runs"], () => {
    if (standing() !== last) load().catch((err) => { if (!signal.aborted) toast(err.message, { hint: err.hint, bad: true }); });
  }, signal);
  await load();
}

// asking is what a run asks, and the buttons that answer it.
function asking(r, question, seen, answers, me, load) {
  const said = h("div", { role: "alert" });
  const reason = h("input", { type: "text", id: "reason", autocomplete: "off" });
  const text = h("textarea", { id: "answer", rows: "2", required: true });
  const give = async (answer) => {
    await ask("say", { id: r.run, user: r.user_id, state: seen, answer, reason: reason.value });
    toast("Answered; the agent goes on with workflow_next");
    await load();
  };
  const agrees = answers && answers.length === 2 && answers[0] === "yes";
  return h("section", { class: "card ask", "aria-label": "What the run asks" },
    h("p", { class: "description" }, question),
    !me.admin && h("p", { class: "hint" }, `Answer at a terminal: workbench runs answer ${r.run}`),
    me.admin && !answers && h("div", { class: "field" }, h("label", { for: "answer" }, "Answer"), text),
    me.admin && agrees && h("div", { class: "field" }, h("label", { for: "reason" }, "Why, if not (the agent is told)"), reason),
    said,
    me.admin && h("div", { class: "row" }, answers
      ? answers.map((a, i) => button(agrees ? { yes: "Agree", no: "Refuse" }[a] : a, () => give(a), { class: agrees && a === "no" ? "danger" : i === 0 && agrees ? "main" : "" }))
      : button("Answer", async () => {
        if (text.value.trim() === "") {
          show(said, fault({ message: "the answer is empty" }));
          text.focus();
          return;
        }
        await give(text.value);
      }, { class: "main" })));
}

const bad = new Set(["blocked", "refused", "abandoned", "expired"]);
const good = new Set(["done", "answered", "finished", "returned"]);

function event(e) {
  const lines = [e.goal, e.notes, e.output, e.answer && "answer: " + e.answer, e.text, ...(e.reasons || []).map((one) => one.what || one.What || JSON.stringify(one)), e.from && "from " + e.from, e.to && `to event ${e.to}`];
  return h("li", { class: "event " + (bad.has(e.kind) ? "bad" : good.has(e.kind) ? "good" : "") },
    h("p", {}, h("strong", {}, e.kind), e.step && [" ", h("span", { class: "name" }, e.step)], e.pass > 0 && h("span", { class: "hint" }, `, pass ${number(e.pass)}`),
      h("span", { class: "where" }, e.by, " · ", new Date(e.at).toLocaleString())),
    lines.filter(Boolean).map((line) => h("p", { class: "clip" }, line)),
    e.tool && h("p", { class: "facts" }, h("span", { class: "name" }, e.tool)),
    [["Arguments", e.arguments], ["Result", e.result], ["Context", e.context], ["Artifacts", e.artifacts]].filter(([, v]) => v !== undefined && v !== null).map(([what, v]) =>
      h("details", { class: "schema" }, h("summary", {}, what), json(v))));
}
