// Drives the official TypeScript clients from a test.
//
//   node driver.mjs < scripts.json
//
// What is read is a list of scripts, which are done one after the other, each by a client of its own: a process of Node
// costs more than a script. A script is one object:
//
//   client        sdk1 (SDK 1.x), or the SDK 2.x client as sdk2-legacy (handshake), sdk2-auto (probes for the era) or
//                 sdk2-modern (2026-07-28 only)
//   command, env  the command line of the server to connect to over stdio, and its environment
//   capabilities  what the client declares
//   answers       method → result, for what the server asks (roots/list, sampling/createMessage, elicitation/create)
//   operations    a list, done one after the other:
//                   {"method": "tools/call", "params": {…}}   by the client's own function for that method
//                   {"await": "tools"}                        until the client's handler for changed lists of that kind
//                                                             has run once for each await so far
//                   {"remove": "/some/folder"}                by the driver itself
//
// Each line on stdout is an object: first {"connected": {…}}, then for every operation in order {"operation": n, "result": …}
// or {"operation": n, "error": {…}}, and between them {"changed": "tools", "names": […]} when a handler ran.

import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";

const print = (value) => process.stdout.write(JSON.stringify(value) + "\n");

const info = { name: "driver", version: "1.0.0" };

async function sdk1(options) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const types = await import("@modelcontextprotocol/sdk/types.js");
  const schemas = {
    "roots/list": types.ListRootsRequestSchema,
    "sampling/createMessage": types.CreateMessageRequestSchema,
    "elicitation/create": types.ElicitRequestSchema,
  };
  const client = new Client(info, options);
  return { client, Transport: StdioClientTransport, on: (method, handler) => client.setRequestHandler(schemas[method], handler) };
}

async function sdk2(options, mode) {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(info, { ...options, versionNegotiation: { mode } });
  return { client, Transport: StdioClientTransport, on: (method, handler) => client.setRequestHandler(method, handler) };
}

const kinds = {
  "sdk1": sdk1,
  "sdk2-legacy": (options) => sdk2(options, "legacy"),
  "sdk2-auto": (options) => sdk2(options, "auto"),
  "sdk2-modern": (options) => sdk2(options, { pin: "2026-07-28" }),
};

async function run(script) {
  // What each kind of list_changed has brought so far, and who waits for the next.
  const changes = new Map();
  let over = false;
  function changed(list, error, items) {
    if (over) return; // SDK 1.x still asks for changed lists once it is closed; that is not the next client's.
    print({ changed: list, names: items?.map((item) => item.name), error: error?.message });
    const seen = changes.get(list) ?? { count: 0, awaited: 0, wake: () => {} };
    seen.count++;
    changes.set(list, seen);
    seen.wake();
  }

  async function changesOf(list) {
    const seen = changes.get(list) ?? { count: 0, awaited: 0, wake: () => {} };
    changes.set(list, seen);
    seen.awaited++;
    while (seen.count < seen.awaited) await new Promise((resolve) => (seen.wake = resolve));
    return { count: seen.count };
  }

  const { client, Transport, on } = await kinds[script.client]({
    capabilities: script.capabilities ?? {},
    listChanged: {
      tools: { onChanged: (error, items) => changed("tools", error, items) },
      prompts: { onChanged: (error, items) => changed("prompts", error, items) },
      resources: { onChanged: (error, items) => changed("resources", error, items) },
    },
  });
  for (const [method, result] of Object.entries(script.answers ?? {})) on(method, async () => result);

  // The function of the client that stands for each method.
  const functions = {
    "ping": () => client.ping(),
    "tools/list": (params) => client.listTools(params),
    "tools/call": (params) => client.callTool(params),
    "resources/list": (params) => client.listResources(params),
    "resources/templates/list": (params) => client.listResourceTemplates(params),
    "resources/read": (params) => client.readResource(params),
    "prompts/list": (params) => client.listPrompts(params),
    "prompts/get": (params) => client.getPrompt(params),
    "completion/complete": (params) => client.complete(params),
  };

  const [command, ...args] = script.command;
  await client.connect(new Transport({ command, args, env: script.env, stderr: "inherit" }));
  print({
    connected: {
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    },
  });
  for (const [operation, { method, params, await: list, remove }] of script.operations.entries()) {
    try {
      print({ operation, result: await (list ? changesOf(list) : remove ? rm(remove, { recursive: true }) : functions[method](params)) });
    } catch (error) {
      print({ operation, error: { code: error.code, message: error.message, data: error.data } });
    }
  }
  over = true;
  await client.close();
}

for (const script of JSON.parse(await text(process.stdin))) await run(script);
