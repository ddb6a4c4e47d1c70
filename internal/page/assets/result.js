// What a tool answered, as a person reads it.

import { bytes, copy, count, h, number, show } from "./dom.js";
import { isObject, own, parse } from "./json.js";

const most = 200000; // characters that are shown at once

export function result(r, took) {
  const parts = Array.isArray(r.content) ? r.content : [];
  const structured = r.structuredContent;
  const said = JSON.stringify(structured);
  // A server that gives the same twice, for clients of either kind, is shown once.
  const doubled = structured !== undefined && parts.length === 1 && parts[0].type === "text" && same(parts[0].text, said);
  const size = JSON.stringify(r).length;
  const nice = h("div", { class: "parts" },
    !doubled && parts.map(part),
    structured !== undefined && h("section", { class: "part", "aria-label": "Structured content" }, parts.length > 0 && !doubled && h("p", { class: "hint" }, "Structured content"), value(structured)),
    parts.length === 0 && structured === undefined && h("p", { class: "hint" }, "The result is empty."));
  const whole = h("pre", { class: "out", hidden: true, tabindex: "0", "aria-label": "The whole result" });
  return h("div", { class: "result", "data-whole": true },
    h("div", { class: "row" }, h("span", { class: r.isError ? "chip bad" : "chip ok" }, h("span", { class: "dot" }), r.isError ? "the tool answered with an error" : "answered"),
      h("span", { class: "hint" }, `${bytes(size)}, about ${count(Math.ceil(size / 4), "token")} · ${took}`), h("span", { class: "grow" }),
      h("button", {
        type: "button", class: "quiet", "aria-pressed": "false", onclick(e) {
          whole.hidden = !whole.hidden;
          nice.hidden = !whole.hidden;
          e.currentTarget.setAttribute("aria-pressed", String(!whole.hidden));
          if (!whole.hidden && whole.textContent === "") show(whole, JSON.stringify(r, null, 2).slice(0, most * 5));
        },
      }, "JSON"),
      h("button", { type: "button", class: "quiet", onclick: () => copy(JSON.stringify(r, null, 2)) }, "Copy")),
    nice, whole);
}

function same(text, said) {
  try {
    return JSON.stringify(parse(text)) === said;
  } catch {
    return false;
  }
}

function part(p) {
  if (p === null || typeof p !== "object") return long(JSON.stringify(p));
  switch (p.type) {
    case "text": return words(p.text);
    case "image": return media("img", p.data, p.mimeType);
    case "audio": return media("audio", p.data, p.mimeType);
    case "resource_link": return h("div", { class: "part link" }, h("strong", {}, p.title || p.name || "resource"), address(p.uri), p.mimeType && h("span", { class: "hint" }, p.mimeType), p.description && h("p", {}, p.description));
    case "resource": {
      const of = p.resource || {};
      return h("div", { class: "part" }, h("p", { class: "hint" }, address(of.uri), of.mimeType && " " + of.mimeType),
        of.text !== undefined ? words(of.text) : media(/^image\//.test(of.mimeType) ? "img" : "file", of.blob, of.mimeType));
    }
  }
  return h("div", { class: "part" }, h("p", { class: "hint" }, "content of the kind ", String(p.type)), json(p));
}

// address is a link only where a browser may follow it.
function address(uri) {
  if (/^https?:\/\//i.test(uri || "")) return h("a", { href: uri, target: "_blank", rel: "noopener noreferrer" }, uri);
  return h("code", {}, uri || "");
}

function words(text) {
  const t = String(text ?? "");
  const trimmed = t.trim();
  if (/^[[{]/.test(trimmed) && trimmed.length < most) {
    try {
      return h("div", { class: "part" }, value(parse(trimmed)));
    } catch {
      // it only looks like JSON
    }
  }
  return h("div", { class: "part" }, long(t));
}

function long(text) {
  const el = h("pre", { class: "out", tabindex: "0", "aria-label": "Text" }, text.slice(0, most));
  if (text.length <= most) return el;
  return h("div", {}, el, h("button", { type: "button", onclick(e) { show(el, text); e.currentTarget.remove(); } }, `Show all ${number(text.length)} characters`));
}

const pictures = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const sounds = /^audio\/[\w.+-]+$/;

function media(kind, data, mime) {
  let raw;
  try {
    raw = Uint8Array.from(atob(data || ""), (c) => c.charCodeAt(0));
  } catch {
    return h("p", { class: "warn" }, `${kind}: it is not base64`);
  }
  const type = String(mime || "");
  if (kind === "img" && pictures.test(type)) {
    const src = URL.createObjectURL(new Blob([raw], { type }));
    return h("figure", { class: "part" }, h("img", { src, alt: `Picture in the result, ${type}`, class: "picture" }), h("figcaption", { class: "hint" }, `${type}, ${bytes(raw.length)}`));
  }
  if (kind === "audio" && sounds.test(type)) {
    return h("figure", { class: "part" }, h("audio", { controls: true, src: URL.createObjectURL(new Blob([raw], { type })) }), h("figcaption", { class: "hint" }, `${type}, ${bytes(raw.length)}`));
  }
  // Whatever it says it is, the browser saves it and does not open it.
  const href = URL.createObjectURL(new Blob([raw], { type: "application/octet-stream" }));
  return h("p", { class: "part" }, h("a", { href, download: "result" }, `Save ${type || "the file"}`), h("span", { class: "hint" }, " " + bytes(raw.length)));
}

// value shows lists of records as tables, and what else there is as JSON.
export function value(v) {
  if (isObject(v)) {
    const lists = Object.entries(v).filter(([, one]) => records(one));
    if (lists.length === 1) {
      const [name, list] = lists[0];
      const { [name]: _, ...rest } = v;
      return h("div", {}, Object.keys(rest).length > 0 && json(rest), table(list, name));
    }
  }
  return records(v) ? table(v) : json(v);
}

function records(v) {
  return Array.isArray(v) && v.length > 0 && v.every(isObject) && columns(v).length <= 12;
}

function columns(list) {
  const all = new Set();
  for (const one of list.slice(0, 200)) for (const k of Object.keys(one)) all.add(k);
  return [...all];
}

function table(list, name) {
  const cols = columns(list);
  const cell = (v) => (v === undefined ? "" : typeof v === "string" ? v : JSON.stringify(v));
  return h("div", { class: "scroll boxed" }, h("table", {}, h("caption", {}, name ? name + ", " : "", count(list.length, "row"), list.length > 200 ? ", of which 200 are shown" : ""),
    h("thead", {}, h("tr", {}, cols.map((c) => h("th", { scope: "col" }, c)))),
    h("tbody", {}, list.slice(0, 200).map((one) => h("tr", {}, cols.map((c) => h("td", { class: typeof own(one, c) === "number" ? "n" : "" }, cell(own(one, c)).slice(0, 1000))))))));
}

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export function json(v) {
  const text = JSON.stringify(v, null, 2) ?? "undefined";
  const el = h("pre", { class: "out", tabindex: "0", "aria-label": "JSON" });
  if (text.length > 60000) return long(text);
  let at = 0;
  for (const m of text.matchAll(token)) {
    el.append(h("span", {}, text.slice(at, m.index)));
    const kind = m[1] ? (m[2] ? "k" : "s") : "v";
    el.append(h("span", { class: kind }, m[1] || m[0]), m[2] || "");
    at = m.index + m[0].length;
  }
  el.append(text.slice(at));
  return el;
}
