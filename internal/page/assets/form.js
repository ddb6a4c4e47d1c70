// A form made from a JSON schema. Each field has el, its element, and value(), which gives undefined where nothing was said,
// and throws where what was said makes no sense.

import { h, show } from "./dom.js";
import { exact, isObject, isRaw, own, parse } from "./json.js";

let last = 0;

// anew counts the fields that are made at once, at most 1,000: a schema can refer to itself.
const anew = (ctx) => ({ ...ctx, left: { fields: 1000 } });

const list = (v) => (Array.isArray(v) ? v : []);

// said is a value as it stands in a field.
const said = (v) => (v === undefined || v === null ? "" : typeof v === "string" ? v : JSON.stringify(v));

export function form(schema, value) {
  const root = field(schema || {}, anew({ root: schema || {}, depth: 0 }), value === undefined ? {} : value, { top: true, required: true });
  return { el: root.el, value: () => root.value() ?? {} };
}

// What the words of a schema may be. What is anything else says nothing.
const isText = (v) => typeof v === "string";
const isNumber = (v) => typeof v === "number" || isRaw(v);
const schemas = (v) => Array.isArray(v) && v.every((one) => isObject(one) || typeof one === "boolean");
const sound = {
  __proto__: null, $ref: isText, type: (v) => isText(v) || (Array.isArray(v) && v.length > 0 && v.every(isText)), properties: isObject, required: Array.isArray,
  items: (v) => isObject(v) || schemas(v), prefixItems: schemas, enum: Array.isArray, enumNames: Array.isArray, oneOf: schemas, anyOf: schemas, allOf: schemas,
  title: isText, description: isText, format: isText, pattern: isText, examples: Array.isArray, minimum: isNumber, maximum: isNumber, minLength: isNumber, maxLength: isNumber, minItems: isNumber, maxItems: isNumber,
};
const read = (schema) => Object.fromEntries(Object.entries(isObject(schema) ? schema : {}).filter(([word, v]) => !sound[word] || sound[word](v)));

// resolve follows references within the schema, and takes what allOf adds.
function resolve(schema, ctx, deep = 0) {
  let s = read(schema);
  for (let i = 0; s.$ref && i < 20; i++) {
    const at = read(pointed(ctx.root, s.$ref));
    s = { ...at, ...s, $ref: at.$ref };
  }
  for (const part of (deep < 4 && s.allOf) || []) {
    const more = resolve(part, ctx, deep + 1);
    s = { ...more, ...s, properties: { ...more.properties, ...s.properties }, required: [...list(more.required), ...list(s.required)] };
  }
  return s;
}

// pointed is what a reference means, if it is in here.
function pointed(root, ref) {
  let at = root;
  try {
    for (const part of decodeURIComponent(ref).split("/").slice(1)) at = own(at, part.replace(/~1/g, "/").replace(/~0/g, "~"));
  } catch {
    return undefined; // it is no URI
  }
  return ref.startsWith("#") ? at : undefined;
}

function types(s) {
  if (s.type) return Array.isArray(s.type) ? s.type : [s.type];
  if (s.properties || s.additionalProperties) return ["object"];
  if (s.items || s.prefixItems) return ["array"];
  return [];
}

const kind = (v) => (v === null ? "null" : Array.isArray(v) ? "array" : isRaw(v) ? "number" : typeof v);

// present takes null out of what a value may be; null is true if it was in there.
function present(s, ctx) {
  const isNull = (one) => one && (one.type === "null" || one.const === null);
  for (const word of ["anyOf", "oneOf"]) {
    if (!s[word] || !s[word].some(isNull)) continue;
    const { [word]: all, ...rest } = s;
    const left = all.filter((one) => !isNull(one));
    if (left.length === 1) return { s: { ...resolve(left[0], ctx), ...rest }, nullable: true };
    return { s: { ...rest, [word]: left }, nullable: left.length > 0 };
  }
  if (Array.isArray(s.type) && s.type.length > 1 && s.type.includes("null")) {
    return { s: { ...s, type: s.type.filter((one) => one !== "null"), enum: s.enum && s.enum.filter((v) => v !== null) }, nullable: true };
  }
  return { s, nullable: false };
}

// options are the values of which one is to be chosen, with what they are called; null if the schema leaves more open.
function options(s) {
  if (s.enum) return s.enum.map((value, i) => ({ value, title: s.enumNames && s.enumNames[i] }));
  const all = s.oneOf || s.anyOf;
  return all && all.length > 0 && all.every((one) => "const" in Object(one)) ? all.map((one) => ({ value: one.const, title: one.title })) : null;
}

function called({ value, title }) {
  return title || (typeof value === "string" ? value : JSON.stringify(value));
}

const equal = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function field(schema, ctx, value, opts = {}) {
  const { s, nullable } = present(resolve(schema, ctx), ctx);
  if (value === undefined) value = s.default;
  if (nullable && value === null) value = undefined;
  if (!nullable || !opts.required) return shaped(s, ctx, value, opts);
  const one = shaped(s, ctx, value, { ...opts, required: false });
  return { el: one.el, value: () => one.value() ?? null };
}

function shaped(s, ctx, value, opts) {
  const inner = { ...ctx, depth: ctx.depth + 1 };
  const choices = s.oneOf || s.anyOf;
  if (ctx.left.fields-- <= 0 || ctx.depth > 12) return raw(s, value, opts);
  if ("const" in s) return fixed(s, opts);
  if (options(s)) return choose(s, options(s), value, opts);
  if (choices && choices.length > 0) return variants(s, choices, inner, value, opts);
  const t = types(s);
  if (t.length > 1) return variants(s, t.map((type) => ({ ...s, type, title: type, description: undefined })), inner, value, opts);
  switch (t[0]) {
    case "object": return object(s, inner, value, opts);
    case "array": return array(s, inner, value, opts);
    case "boolean": return bool(s, value, opts);
    case "integer":
    case "number": return numeric(s, t[0], value, opts);
    case "string": return text(s, value, opts);
  }
  if (t[0] === "null") return { el: labelled("null", s, opts, h("span", { class: "hint" }, "null")), value: () => null };
  return raw(s, value, opts);
}

function labelled(id, s, opts, control, ...more) {
  const hint = s.description && h("p", { class: "hint", id: id + "-hint" }, s.description);
  if (hint) control.setAttribute("aria-describedby", hint.id);
  return h("div", { class: "field" },
    h("label", { for: id }, h("span", { class: "key" }, opts.name || s.title || "value"), opts.required && h("span", { class: "must", title: "required" }, "*"), h("span", { class: "type" }, describe(s))),
    control, ...more, hint);
}

function describe(s) {
  const all = [types(s).join(" or ")];
  if (s.format) all.push(s.format);
  for (const [low, high, what] of [["minimum", "maximum", ""], ["minLength", "maxLength", " characters"], ["minItems", "maxItems", " items"]]) {
    if (s[low] !== undefined || s[high] !== undefined) all.push((s[high] === undefined ? `at least ${said(s[low])}` : s[low] ? `${said(s[low])} to ${said(s[high])}` : `at most ${said(s[high])}`) + what);
  }
  if (s.pattern) all.push("like " + s.pattern);
  return all.filter(Boolean).join(", ");
}

function complain(el, message) {
  el.setAttribute("aria-invalid", "true");
  const err = new Error(message);
  err.field = el;
  throw err;
}

// Bounds of a value, and what is said of one that is outside. A pattern is for the server to check: one can be made that never ends.
const bounds = {
  minimum: [(v, b) => v < b, "must be at least"], maximum: [(v, b) => v > b, "must be at most"],
  exclusiveMinimum: [(v, b) => v <= b, "must be more than"], exclusiveMaximum: [(v, b) => v >= b, "must be less than"],
  multipleOf: [(v, b) => Math.abs(v / b - Math.round(v / b)) > 1e-9, "must be a multiple of"],
  minLength: [(v, b) => [...v].length < b, "has too few characters, of at least"], maxLength: [(v, b) => [...v].length > b, "has too many characters, of at most"],
  minItems: [(v, b) => v.length < b, "has too few items, of at least"], maxItems: [(v, b) => v.length > b, "has too many items, of at most"],
};

function within(el, s, names, v, opts) {
  for (const name of names) if (typeof s[name] === "number" && bounds[name][0](v, s[name])) complain(el, `${opts.name || "a value"} ${bounds[name][1]} ${s[name]}`);
  return v;
}

function fixed(s, opts) {
  const id = "f" + ++last;
  return { el: labelled(id, s, opts, h("output", { id, class: "mono" }, JSON.stringify(s.const))), value: () => s.const };
}

function choose(s, all, value, opts) {
  const id = "f" + ++last;
  const at = all.findIndex((one) => equal(one.value, value));
  const el = h("select", { id, required: opts.required, onchange: () => el.removeAttribute("aria-invalid") },
    h("option", { value: "" }, opts.required ? "Choose…" : "–"),
    all.map((one, i) => h("option", { value: String(i) }, called(one))));
  el.value = at < 0 ? "" : String(at);
  return {
    el: labelled(id, s, opts, el),
    value: () => el.value === "" ? opts.required ? complain(el, `${opts.name || "a value"}: choose one`) : undefined : all[Number(el.value)].value,
  };
}

function bool(s, value, opts) {
  const id = "f" + ++last;
  const el = h("select", { id }, h("option", { value: "" }, opts.required ? "Choose…" : "–"), h("option", { value: "true" }, "true"), h("option", { value: "false" }, "false"));
  el.value = said(value);
  return {
    el: labelled(id, s, opts, el),
    value: () => el.value === "" ? opts.required ? complain(el, `${opts.name || "a value"}: true or false`) : undefined : el.value === "true",
  };
}

function numeric(s, type, value, opts) {
  const id = "f" + ++last;
  const el = h("input", { id, type: "text", inputmode: type === "integer" ? "numeric" : "decimal", autocomplete: "off", spellcheck: "false", required: opts.required, oninput: () => el.removeAttribute("aria-invalid") });
  el.value = said(value);
  return {
    el: labelled(id, s, opts, el),
    value() {
      const text = el.value.trim();
      if (text === "") return opts.required ? complain(el, `${opts.name || "a value"} is needed`) : undefined;
      const n = Number(text);
      if (!Number.isFinite(n) || (type === "integer" && !Number.isInteger(n))) complain(el, `${opts.name || "a value"}: ${text} is no ${type}`);
      if (!JSON.rawJSON && Number.isInteger(n) && !Number.isSafeInteger(n)) complain(el, `${opts.name || "a value"}: this browser is too old for the digits of ${text}; use workbench call`);
      within(el, s, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], n, opts);
      return /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? exact(text) : n;
    },
  };
}

const inputs = { __proto__: null, date: "date", email: "email", uri: "url", url: "url", password: "password" };
const samples = { __proto__: null, "date-time": "2026-01-31T12:00:00Z", time: "12:00:00Z" };

function text(s, value, opts) {
  const id = "f" + ++last;
  const touched = { yes: false };
  const act = () => { touched.yes = true; el.removeAttribute("aria-invalid"); grow(el); };
  const el = samples[s.format]
    ? h("input", { id, type: "text", placeholder: samples[s.format], autocomplete: "off", required: opts.required, oninput: act })
    : inputs[s.format]
      ? h("input", { id, type: inputs[s.format], autocomplete: "off", required: opts.required, oninput: act })
      : h("textarea", { id, rows: "1", spellcheck: "false", autocomplete: "off", required: opts.required, oninput: act, placeholder: s.examples && s.examples.length > 0 ? said(s.examples[0]) : undefined });
  el.value = said(value);
  if (value !== undefined) touched.yes = true;
  queueMicrotask(() => grow(el));
  return {
    el: labelled(id, s, opts, el),
    value() {
      if (el.value === "" && !opts.required && !(touched.yes && value !== undefined && value === "")) return undefined;
      if (el.value === "" && opts.required && (s.minLength > 0 || inputs[s.format])) complain(el, `${opts.name || "a value"} is needed`);
      if (el.validity.typeMismatch || el.validity.badInput) complain(el, `${opts.name || "a value"} is no ${s.format}`);
      return within(el, s, ["minLength", "maxLength"], el.value, opts);
    },
  };
}

function grow(el) {
  if (el.tagName !== "TEXTAREA" || !el.isConnected) return;
  el.style.height = "auto";
  el.style.height = Math.min(el.scrollHeight + 2, 400) + "px";
}

function raw(s, value, opts) {
  const id = "f" + ++last;
  const el = h("textarea", { id, class: "code", rows: "3", spellcheck: "false", placeholder: "JSON", oninput: () => el.removeAttribute("aria-invalid") });
  el.value = value === undefined ? "" : JSON.stringify(value, null, 2);
  return {
    el: labelled(id, { ...s, type: "JSON" }, opts, el),
    value() {
      if (el.value.trim() === "") return opts.required ? complain(el, `${opts.name || "a value"} is needed`) : undefined;
      try {
        return parse(el.value);
      } catch (err) {
        return complain(el, `${opts.name || "a value"} is not JSON: ${err.message}`);
      }
    },
  };
}

// group is what holds others, which make gives. One that need not be there is folded; it has nothing in it, and nothing is
// said of it, until it is opened.
function group(s, opts, make) {
  if (opts.top) return { el: h("div", { class: "fields" }, make()), on: () => true };
  const head = [h("span", { class: "key" }, opts.name || s.title || "value"), opts.required && h("span", { class: "must", title: "required" }, "*"), h("span", { class: "type" }, describe(s))];
  const hint = s.description && h("p", { class: "hint" }, s.description);
  if (opts.required) return { el: h("fieldset", {}, h("legend", {}, head), hint, make()), on: () => true };
  let empty = true;
  const fill = () => {
    if (el.open && empty) el.append(...[make()].flat());
    empty = empty && !el.open;
    return el.open;
  };
  const el = h("details", { class: "group", open: opts.filled, ontoggle: fill }, h("summary", {}, head), hint);
  fill();
  return { el, on: fill };
}

function object(s, ctx, value, opts) {
  const given = isObject(value) ? value : {};
  const names = Object.keys(s.properties || {});
  const must = new Set(s.required);
  let fields = [], extra = null;
  const box = group(s, { ...opts, filled: value !== undefined }, () => {
    if (!opts.top && !opts.required) ctx = anew(ctx);
    fields = names.map((name) => [name, field(s.properties[name], ctx, own(given, name), { name, required: must.has(name) })]);
    if (s.additionalProperties !== false && (names.length === 0 || isObject(s.additionalProperties))) extra = pairs(s, ctx, given, names);
    if (names.length === 0 && !extra) return [h("p", { class: "hint" }, "It takes no arguments.")];
    return [...fields.map(([, f]) => f.el), ...(extra ? [extra.el] : [])];
  });
  return {
    el: box.el,
    value() {
      if (!box.on()) return undefined;
      const out = {};
      for (const [name, f] of fields) {
        const v = f.value();
        if (v !== undefined) Object.defineProperty(out, name, { value: v, enumerable: true, configurable: true, writable: true });
      }
      return { ...out, ...(extra ? extra.value() : {}) };
    },
  };
}

// pairs are members whose names the schema leaves open.
function pairs(s, ctx, given, known) {
  const of = s.additionalProperties;
  const rows = [];
  const items = h("div", { class: "items" });
  const put = (ctx, name, value) => {
    const id = "f" + ++last;
    const key = h("input", { id, type: "text", value: name, "aria-label": "Name", placeholder: "name", spellcheck: "false", autocomplete: "off", oninput: () => key.removeAttribute("aria-invalid") });
    const row = { key, field: field(of, ctx, value, { name: "value" }) };
    row.el = h("div", { class: "item" }, h("div", { class: "grow" }, key, row.field.el), drop("Remove", () => { rows.splice(rows.indexOf(row), 1); row.el.remove(); }));
    rows.push(row);
    items.append(row.el);
  };
  for (const [name, value] of Object.entries(given)) if (!known.includes(name)) put(ctx, name, value);
  return {
    el: h("div", {}, items, h("button", { type: "button", class: "add", onclick: () => put(anew(ctx), "", undefined) }, "+ Add a member")),
    value() {
      const out = {};
      for (const row of rows) {
        const v = row.field.value();
        const name = row.key.value;
        if (v === undefined) continue;
        if (name === "") complain(row.key, "a member has no name");
        if (known.includes(name) || Object.hasOwn(out, name)) complain(row.key, `${name} is there already`);
        Object.defineProperty(out, name, { value: v, enumerable: true, configurable: true, writable: true });
      }
      return out;
    },
  };
}

function drop(name, act) {
  return h("button", { type: "button", class: "quiet", "aria-label": name, title: name, onclick: act }, "✕");
}

// several is a list of which each item is chosen or not.
function several(s, all, value, opts) {
  const boxes = all.map((one) => {
    const id = "f" + ++last;
    const box = h("input", { id, type: "checkbox", checked: Array.isArray(value) && value.some((v) => equal(v, one.value)), onchange: () => boxes[0].box.removeAttribute("aria-invalid") });
    return { one, box, el: h("label", { class: "check", for: id }, box, called(one)) };
  });
  const box = group(s, { ...opts, top: false, filled: value !== undefined }, () => h("div", { class: "boxes" }, boxes.map((b) => b.el)));
  return {
    el: box.el,
    value() {
      const chosen = boxes.filter((b) => b.box.checked).map((b) => b.one.value);
      if (!box.on() || (chosen.length === 0 && !opts.required && value === undefined)) return undefined;
      return within(boxes[0].box, s, ["minItems", "maxItems"], chosen, opts);
    },
  };
}

function array(s, ctx, value, opts) {
  const one = s.items && !Array.isArray(s.items) && options(resolve(s.items, ctx));
  if (one && one.length > 0 && one.length <= 50) return several(s, one, value, opts);
  const rows = [];
  const items = h("div", { class: "items" });
  const of = (i) => (s.prefixItems && s.prefixItems[i]) || (Array.isArray(s.items) ? s.items[i] || {} : s.items || {});
  const put = (ctx, v) => {
    const n = rows.length;
    const row = { field: field(of(n), ctx, v, { name: `${opts.name || "item"} ${n + 1}`, required: true }) };
    row.el = h("div", { class: "item" }, h("div", { class: "grow" }, row.field.el), drop(`Remove ${opts.name || "item"} ${n + 1}`, () => { rows.splice(rows.indexOf(row), 1); row.el.remove(); }));
    rows.push(row);
    items.append(row.el);
    return row;
  };
  const start = Array.isArray(value) ? value : Array.from({ length: opts.required && ctx.left.fields > 0 ? Math.min(s.minItems || 0, 20) : 0 });
  for (const v of start) put(ctx, v);
  const add = h("button", {
    type: "button", class: "add", onclick() {
      const first = put(anew(ctx), undefined).el.querySelector("input, textarea, select");
      if (first) first.focus();
    },
  }, `+ Add to ${opts.name || "the list"}`);
  const box = group(s, { ...opts, top: false, filled: value !== undefined }, () => [items, add]);
  return {
    el: box.el,
    value() {
      if (!box.on() || (rows.length === 0 && !opts.required && value === undefined)) return undefined;
      return within(add, s, ["minItems", "maxItems"], rows.map((row) => row.field.value()), opts);
    },
  };
}

// variants offers one of several schemas.
function variants(s, choices, ctx, value, opts) {
  const id = "f" + ++last;
  const { oneOf, anyOf, ...base } = s;
  const merged = choices.map((one) => {
    const v = resolve(one, ctx);
    return base.properties ? { ...base, ...v, properties: { ...base.properties, ...v.properties }, required: [...list(base.required), ...list(v.required)], default: undefined } : v;
  });
  const fits = (v) => value !== undefined && (types(v).length === 0 || types(v).includes(kind(value)) || (types(v).includes("integer") && (Number.isInteger(value) || isRaw(value)))) &&
    Object.entries(v.properties || {}).every(([k, p]) => !("const" in (p || {})) || equal(own(value, k), p.const)) && (!v.enum || v.enum.includes(value)) && (!("const" in v) || v.const === value);
  let at = value === undefined ? (opts.required ? 0 : -1) : merged.findIndex(fits);
  let now = null;
  const body = h("div", { class: "variant" });
  const pick = (v) => {
    now = at < 0 ? null : field(merged[at], ctx, v, { name: opts.name, required: true, top: types(merged[at])[0] === "object" });
    show(body);
    if (now) body.append(now.el);
  };
  const name = (v, i) => (v.title !== s.title && v.title) || ("const" in v ? JSON.stringify(v.const) : Object.values(v.properties || {}).map((p) => p && p.const).find((c) => c !== undefined)) || types(v).join(" or ") || `form ${i + 1}`;
  const el = h("select", { id, onchange: () => { at = Number(el.value); pick(undefined); } },
    !opts.required && h("option", { value: "-1" }, "–"), merged.map((v, i) => h("option", { value: String(i) }, String(name(v, i)))));
  el.value = String(at);
  pick(value);
  return { el: labelled(id, { description: s.description, title: s.title }, opts, el, body), value: () => (now ? now.value() : undefined) };
}
