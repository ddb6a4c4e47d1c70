// What a server wants to know of the person during a call that was made here.

import { ask } from "./api.js";
import { button, fault, h, show } from "./dom.js";
import { form } from "./form.js";

// question is the element that asks, and goes once it is answered.
export function question({ id, server, params: p }) {
  const fields = p.mode !== "url" && Object.keys(p.requestedSchema?.properties || {}).length > 0 ? form(p.requestedSchema) : null;
  const said = h("div", { role: "alert" });
  const answer = async (result) => {
    await ask("reply", { id, arguments: result });
    el.remove();
  };
  const accept = (e) => {
    e.preventDefault();
    try {
      answer({ action: "accept", content: p.mode === "url" ? undefined : fields ? fields.value() : {} }).catch((err) => show(said, fault(err)));
    } catch (err) {
      show(said, fault(err));
      if (err.field) err.field.focus();
    }
  };
  const el = h("form", { class: "card ask", "aria-label": "A question of the server " + server, novalidate: true, tabindex: "-1", onsubmit: accept, oninput: () => show(said) },
    h("div", { class: "title" }, h("h3", {}, "A question for you"), h("span", { class: "where" }, server)),
    h("p", { class: "description" }, p.message || ""),
    p.mode === "url" && page(p.url), fields && fields.el, said,
    h("div", { class: "row" },
      h("button", { type: "submit", class: "main" }, h("span", {}, p.mode === "url" ? "I have opened it" : fields ? "Answer" : "Agree")),
      button("Decline", () => answer({ action: "decline" }))),
    h("p", { class: "hint" }, "These are the words of the server, and your answer goes to it."));
  return el;
}

// page is an address to go to, with the site in it before all else.
function page(address) {
  if (!/^https?:\/\//i.test(address || "")) return h("p", { class: "warn" }, "It is no address of the web: ", h("code", {}, address || ""));
  let site = address;
  try {
    site = new URL(address).host;
  } catch {
    // a browser will say so
  }
  return h("p", { class: "link" }, h("span", {}, "Look whose address it is before you open it: ", h("strong", {}, site)), h("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, address));
}
