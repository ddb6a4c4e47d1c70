// The calls that wait for a person.

import { ask, live } from "./api.js";
import { button, empty, h, show, toast } from "./dom.js";
import { indented } from "./json.js";

export function approvals(el, { signal }) {
  const draw = () => {
    if (signal.aborted) return;
    show(el,
      h("header", { class: "head" }, h("h1", {}, "Approvals"), h("p", { class: "sub" }, "Calls of servers with “approve” in the configuration, whose client cannot ask, wait here for your word.")),
      live.approvals.length === 0 && empty("No call waits", "When one does, it appears here at once."),
      h("div", { class: "cards" }, live.approvals.map(card)));
  };
  live.on(["approvals"], draw, signal);
  draw();
}

function card(c) {
  const name = `${c.toolbox}/${c.server}/${c.tool}`;
  const answer = async (agree) => {
    await ask("answer", { id: c.id, agree });
    toast(agree ? `${name} is called` : `${name} is not called`);
  };
  return h("article", { class: "card", "data-key": c.id, "data-approval": c.id },
    h("div", { class: "title" }, h("h2", { class: "name" }, h("span", { class: "of" }, `${c.toolbox}/${c.server}/`), c.tool), h("span", { class: "where" }, c.client || "", " · ", c.id)),
    h("pre", { class: "json", tabindex: "0", "aria-label": "Arguments" }, indented(c.arguments)),
    c.cut && h("p", { class: "hint" }, `The beginning of ${c.bytes} bytes.`),
    h("p", { class: "hint" }, "It waits until ", new Date(c.until).toLocaleTimeString(), "."),
    h("div", { class: "row" },
      button("Agree", () => answer(true), { class: "main", "aria-label": "Agree to " + name }),
      button("Refuse", () => answer(false), { class: "danger", "aria-label": "Refuse " + name })));
}
