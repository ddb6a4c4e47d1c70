(() => {
  "use strict";
  const { __call: call, __log: log, __done: done } = globalThis;
  for (const name of ["__call", "__log", "__done"]) delete globalThis[name];
  const { parse, stringify } = JSON;
  const text = String;

  // Integers whose digits a number does not keep are BigInts for a script: many are ids. Between JSON and them they are
  // strings that begin with a word that nobody else knows.
  const mark = "int" + text(Math.random()).slice(2);
  const long = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
  const marked = new RegExp('"' + mark + '(-?\\d+)"', "g");
  const decode = (json) => {
    if (!/\d{16}/.test(json)) return parse(json);
    const safe = (token) => token[0] === '"' || Number.isSafeInteger(Number(token));
    return parse(json.replace(long, (token) => (safe(token) ? token : '"' + mark + token + '"')),
      (_, v) => (typeof v === "string" && v.startsWith(mark) ? BigInt(v.slice(mark.length)) : v));
  };
  const encode = (value) => {
    try {
      return stringify(value);
    } catch { // there is a BigInt, or the same error comes again
      return stringify(value, (_, v) => (typeof v === "bigint" ? mark + v : v)).replace(marked, "$1");
    }
  };

  // What JSON has no form for. Without these a Map, a Set and an Error would be {}, such as the reasons of
  // Promise.allSettled, and a promise that is not awaited too.
  const asJSON = (of, form) =>
    Object.defineProperty(of.prototype, "toJSON", { value() { return form(this); }, configurable: true, writable: true });
  const isName = (key) => key !== Object(key) && typeof key !== "symbol";
  asJSON(Map, (m) => ([...m.keys()].every(isName) ? Object.fromEntries(m) : [...m]));
  asJSON(Set, (s) => [...s]);
  asJSON(Error, (e) => (Object.keys(e).length > 0 ? { error: said(e), ...e } : said(e)));
  asJSON(Promise, () => { throw new TypeError("a promise is no value: await it, or await Promise.all of several"); });
  const said = (e) => text(e) + (Array.isArray(e.errors) ? ": " + e.errors.map(text).join("; ") : "");

  const waiting = new Map();
  let last = 0;

  const unlisted = (path) => {
    throw new TypeError(["tools", ...path].join(".") + " cannot be listed in a script: workbench_open_toolbox and workbench_find_tools tell which tools there are");
  };

  // A call that is not made yet: tools, tools.toolbox, tools.toolbox.server, tools.toolbox.server.tool.
  const names = (path) => new Proxy(function () {}, {
    get: (_, name) => typeof name !== "string" || name === "then" || path.length === 3 ? undefined : names([...path, name]),
    set: () => { throw new TypeError("tools cannot be changed"); },
    has: () => unlisted(path),
    ownKeys: () => unlisted(path),
    apply: (_, self, args) => {
      if (path.length !== 3) throw new TypeError(["tools", ...path].join(".") + " is no tool: call tools.TOOLBOX.SERVER.TOOL(arguments)");
      const given = args.length === 0 || args[0] === undefined ? {} : args[0];
      if (args.length > 1 || typeof given !== "object" || given === null || Array.isArray(given))
        throw new TypeError(["tools", ...path].join(".") + " takes one object: {name: value}");
      const json = encode(given);
      return new Promise((resolve, reject) => {
        waiting.set(++last, [resolve, reject]);
        call(last, path[0], path[1], path[2], json);
      });
    },
  });

  const shown = (v) => {
    if (typeof v === "string") return v;
    try {
      if (v instanceof Error) return said(v);
      const json = encode(v);
      if (json !== undefined) return json;
    } catch {}
    try {
      return text(v);
    } catch {
      return "something that cannot be shown";
    }
  };
  const fault = (e) => {
    try {
      if (e === null) return "out of memory (or null was thrown)"; // the engine has no room for an error then
      if (!(e instanceof Error)) return "threw " + shown(e);
      const at = /<input>:(\d+)/.exec(text(e.stack));
      return said(e) + (at ? " (line " + text(Math.max(1, at[1] - 2)) + ")" : "");
    } catch {
      return "threw something that cannot be shown";
    }
  };
  const console = {};
  for (const level of ["log", "info", "warn", "error", "debug", "table", "dir"])
    console[level] = (...what) => { log(what.map(shown).join(" ").slice(0, 4096)); };
  Object.defineProperty(globalThis, "tools", { value: names([]), enumerable: true });
  globalThis.console = console;

  const AsyncFunction = (async () => {}).constructor;
  const run = async (code) => {
    let f;
    try {
      f = new AsyncFunction("return (" + code + "\n)"); // an expression, as that of an async function
    } catch {
      f = new AsyncFunction(code);
    }
    let value = await f();
    if (typeof value === "function") value = await value();
    if (Array.isArray(value) && value.some((v) => v instanceof Promise)) value = await Promise.all(value);
    return value === undefined ? undefined : encode(value);
  };
  return {
    run: (code) => { run(code).then((v) => done(true, v === undefined ? "" : v), (e) => done(false, fault(e))); },
    settle: (id, ok, said) => {
      const [resolve, reject] = waiting.get(id);
      waiting.delete(id);
      if (!ok) return reject(new Error(said));
      let value;
      try { value = decode(said); } catch (e) { return reject(e); }
      resolve(value);
    },
  };
})()
