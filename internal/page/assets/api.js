// What the page asks of workbench. An answer is lines of JSON: notes, then what was asked for or an error.

import { parse } from "./json.js";

const store = "workbench.secret";
let secret = recall();

function recall() {
  try {
    return localStorage.getItem(store) || "";
  } catch {
    return "";
  }
}

export class Problem extends Error {
  constructor({ message, hint }, status, way) {
    super(message);
    this.hint = hint;
    this.status = status;
    this.way = way;
  }
}

// ask has an action carried out. note is given what comes before the answer; the signal breaks it off.
export async function ask(action, body = {}, { signal, note } = {}) {
  let resp;
  try {
    resp = await fetch("api/" + action, {
      method: "POST", credentials: "same-origin", cache: "no-store", signal, body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "X-Workbench-Secret": secret },
    });
  } catch (err) {
    if (err.name === "AbortError") throw err;
    throw new Problem({ message: "workbench does not answer", hint: "if it has ended, start it again: workbench ui prints a new address, and a gateway asks for your token here" }, 0);
  }
  const reader = resp.body.getReader();
  const text = new TextDecoder();
  let rest = "";
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (err) {
      if (err.name === "AbortError") throw err;
      throw new Problem({ message: "the connection to workbench broke" }, 0);
    }
    if (chunk.done) throw new Problem({ message: "the connection to workbench ended before its answer" }, 0);
    const lines = (rest + text.decode(chunk.value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") continue;
      const said = parse(line);
      if (said.error) throw new Problem(said.error, resp.status, said.way);
      if ("done" in said) return said.done;
      if (note && !(signal && signal.aborted)) note(said.note);
    }
  }
}

// enter comes in with a credential, or with the session that this browser has.
export async function enter(credential) {
  const who = credential === undefined ? await ask("hello") : await ask("enter", { credential });
  secret = who.secret;
  try {
    localStorage.setItem(store, secret);
  } catch {
    // the next page has to come in anew
  }
  return who;
}

export async function leave() {
  try {
    await ask("leave");
  } finally {
    secret = "";
    try {
      localStorage.removeItem(store);
    } catch {
      // it is of no use any more
    }
  }
}

// live is what the page is told without asking: where the workbenches stand, and which calls wait for an answer.
export const live = Object.assign(new EventTarget(), {
  state: "connecting",
  status: null,
  approvals: [],
  runs: [],
  on(kinds, act, signal) {
    for (const kind of kinds) this.addEventListener(kind, act, { signal });
  },
});

function become(state) {
  if (live.state === state) return;
  live.state = state;
  live.dispatchEvent(new Event("state"));
}

// follow keeps live at what workbench says, until the session is over.
export async function follow(signal) {
  for (let wait = 250; !signal.aborted;) {
    try {
      await ask("watch", {}, {
        signal, note({ kind, data }) {
          wait = 250;
          become("live");
          live[kind] = data;
          live.dispatchEvent(new Event(kind));
        },
      });
    } catch (err) {
      if (err.name === "AbortError") return;
      if (err.status === 401) throw err;
    }
    become("lost");
    await new Promise((go) => {
      const timer = setTimeout(go, wait);
      signal.addEventListener("abort", () => { clearTimeout(timer); go(); }, { once: true });
    });
    wait = Math.min(wait * 2, 4000);
  }
}
