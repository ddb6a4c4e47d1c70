// JSON with the digits that it was written with, of which JavaScript's own numbers keep about sixteen.

const digits = (text) => text.toLowerCase().replace(/e.*/, "").replace(/[-.]/g, "").replace(/^0+|0+$/g, "");

// isRaw tells a number that keeps its digits from an object.
export const isRaw = (v) => Boolean(JSON.isRawJSON && JSON.isRawJSON(v));

// isObject tells what has members from all else.
export const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v) && !isRaw(v);

// own is a member that an object has itself: every object inherits a constructor.
export const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

// exact is the number that a text says.
export function exact(text) {
  const n = Number(text);
  return JSON.rawJSON && digits(text) !== digits(String(n)) ? JSON.rawJSON(text) : n;
}

export function parse(text) {
  if (!JSON.rawJSON || !/[\d.]{16}|e[+-]?\d{3}/i.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, v, { source }) => (typeof v === "number" ? exact(source) : v));
}

// indented puts JSON on lines and changes nothing in it: whoever agrees to it sees each member, one that stands there
// twice as well.
export function indented(text) {
  try {
    JSON.parse(text);
  } catch {
    return text; // it was cut off
  }
  let out = "", depth = 0, before = "";
  const line = () => "\n" + "  ".repeat(depth);
  for (const token of text.match(/"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g)) {
    const opens = before === "{" || before === "[", closes = token === "}" || token === "]";
    if (closes) depth--;
    if (opens ? !closes : closes || before === ",") out += line();
    out += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth++;
    before = token;
  }
  return out;
}
