// Elements made of plain values. What servers say is only ever the text of an element or the value of an attribute.

const SVG = "http://www.w3.org/2000/svg";

// Characters that change how the text around them is shown, or are not shown at all, are written out.
const hidden = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

export function clean(text) {
  return String(text).replace(/\r\n?/g, "\n").replace(hidden, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

// h makes an element: h("p", {class: "note"}, "text", child, [more]). A function is a property such as onclick.
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") el[name] = value;
    else if (name === "style") for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
    else if (name === "value" || name === "checked" || name === "indeterminate") el[name] = value;
    else el.setAttribute(name, value === true ? "" : clean(value));
  }
  add(el, children);
  return el;
}

function add(el, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) add(el, child);
    else el.append(child instanceof Node ? child : clean(child));
  }
}

const handlers = ["onclick", "onchange", "oninput", "onkeydown", "onsubmit", "ontoggle"];

// show makes the children of an element those that are given, and leaves alone what is the same already, so that the focus,
// the selection and what is folded stay. Elements with a data-key are told apart by it.
export function show(el, ...children) {
  const wanted = document.createDocumentFragment();
  add(wanted, children);
  morph(el, wanted);
}

function key(node) {
  return node.nodeType === 1 ? node.getAttribute("data-key") : null;
}

function alike(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && key(a) === key(b) && !(a.hasAttribute && a.hasAttribute("data-whole"));
}

function morph(el, wanted) {
  const keyed = new Map();
  for (const child of el.childNodes) if (key(child) !== null) keyed.set(key(child), child);
  let at = el.firstChild;
  for (const next of [...wanted.childNodes]) {
    let old = at;
    if (key(next) !== null && (!old || key(old) !== key(next))) old = keyed.get(key(next)) || null;
    if (old && alike(old, next)) {
      if (old !== at) el.insertBefore(old, at);
      else at = at.nextSibling;
      same(old, next);
    } else {
      el.insertBefore(next, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function same(old, next) {
  if (old.nodeType !== 1) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (name !== "style" && !next.hasAttribute(name) && !(name === "open" && old.nodeName === "DETAILS")) old.removeAttribute(name);
  }
  for (const { name, value } of [...next.attributes]) {
    if (name !== "style" && old.getAttribute(name) !== value && !(name === "open" && old.nodeName === "DETAILS")) old.setAttribute(name, value);
  }
  // The policy of the page forbids the attribute, and not what it stands for.
  if (next.style.cssText !== "" && old.style.cssText !== next.style.cssText) old.style.cssText = next.style.cssText;
  for (const name of handlers) if (old[name] !== next[name]) old[name] = next[name];
  morph(old, next);
}

const shapes = {
  servers: "M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01",
  tools: "M14.5 6.5a4 4 0 0 0-5.2 5.2L4 17v3h3l5.3-5.3a4 4 0 0 0 5.2-5.2L15 12l-3-3z",
  calls: "M4 12h4l2.5-6 4 12 2.5-6H20",
  approvals: "M12 3l7 3v5c0 5-3 8-7 10-4-2-7-5-7-10V6zM9 12l2 2 4-4",
  workflows: "M5 4h6v5H5zM13 15h6v5h-6zM8 9v4a4 4 0 0 0 4 4h1",
  runs: "M6 4v16M6 5h11l-2.5 3.5L17 12H6",
  conversations: "M4 5h16v11H9l-5 4z",
  config: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z",
  keys: "M4 6h16v12H4zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  leave: "M10 5H5v14h5M15 8l4 4-4 4M19 12H9",
  search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.5L20 20",
  retry: "M19 8a8 8 0 1 0 1 5M19 3v5h-5",
  copy: "M9 9h10v11H9zM5 15V4h10",
  alert: "M12 4l9 16H3zM12 10v4M12 17h.01",
  back: "M14 6l-6 6 6 6",
  play: "M7 5l11 7-11 7z",
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", shapes[name]);
  svg.append(path);
  return svg;
}

// button makes a button whose action may take a while, during which it cannot be pressed again.
export function button(label, act, props = {}) {
  const { symbol, ...rest } = props;
  return h("button", {
    type: "button", ...rest, onclick: async (e) => {
      const el = e.currentTarget;
      if (el.getAttribute("aria-busy") === "true") return;
      el.setAttribute("aria-busy", "true");
      try {
        await act(e);
      } catch (err) {
        if (err.name !== "AbortError") toast(err.message, { hint: err.hint, bad: true });
      } finally {
        el.removeAttribute("aria-busy");
      }
    },
  }, symbol && icon(symbol), h("span", {}, label));
}

// toast tells something for a few seconds, or, what went wrong, until it is put away.
export function toast(message, { hint, bad, link } = {}) {
  const el = h("div", { class: bad ? "toast bad" : "toast" },
    h("div", {}, h("p", {}, message), hint && h("p", { class: "hint" }, hint), link),
    h("button", { type: "button", class: "quiet", "aria-label": "Put away", onclick: () => el.remove() }, "✕"));
  document.getElementById("toasts").append(el);
  if (!bad && !link) setTimeout(() => el.remove(), 5000);
  return el;
}

export function empty(title, ...text) {
  return h("div", { class: "empty" }, h("p", { class: "title" }, title), h("p", {}, text));
}

export function fault(err) {
  return h("div", { class: "fault", role: "alert" }, icon("alert"), h("div", {}, h("p", {}, err.message), err.hint && h("p", { class: "hint" }, err.hint)));
}

export async function copy(text) {
  const done = (await navigator.clipboard?.writeText(text).then(() => true, () => false)) || copyAll(text);
  if (done) toast("Copied");
  else toast("The browser does not let this page copy", { hint: text, bad: true });
}

// copyAll copies where the page has no clipboard: a browser gives none to one that came without TLS from another machine.
function copyAll(text) {
  const at = document.activeElement;
  const el = h("textarea", { class: "hide", value: text });
  document.body.append(el);
  el.select();
  try {
    return document.execCommand("copy");
  } finally {
    el.remove();
    at.focus();
  }
}

// Numbers and times for people.

export function count(n, noun, plural) {
  return `${number(n)} ${n === 1 ? noun : plural || noun + "s"}`;
}

// latest counts what is shown of runs or conversations: of more than 200 the page is told the latest alone.
export function latest(list, noun) {
  return count(list.length, noun) + (list.length < 200 ? "" : ` are shown; workbench ${noun}s list --limit shows more`);
}

export function number(n) {
  return Number(n || 0).toLocaleString("en-US");
}

export function bytes(n) {
  if (n < 1000) return `${n} B`;
  if (n < 1e6) return `${(n / 1e3).toFixed(n < 1e4 ? 1 : 0)} kB`;
  return n < 1e9 ? `${(n / 1e6).toFixed(n < 1e7 ? 1 : 0)} MB` : `${(n / 1e9).toFixed(1)} GB`;
}

export function since(time) {
  const s = Math.max(0, (Date.now() - new Date(time)) / 1000);
  if (s < 10) return "now";
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

// ago is an element that goes on telling how long ago something was.
export function ago(time) {
  return h("time", { datetime: time, title: new Date(time).toLocaleString(), "data-since": time }, since(time));
}

setInterval(() => {
  for (const el of document.querySelectorAll("time[data-since]")) {
    const text = since(el.dataset.since);
    if (el.textContent !== text) el.textContent = text;
  }
}, 5000);
