// A server of the official TypeScript SDKs for tests, of either era or of both.
//
//   node server.mjs sdk1|sdk2 stdio|sessions|stateless|sse legacy|modern|both
//
// sdk1 (SDK 1.x) is of the legacy era, and so are sessions. Over HTTP the server prints its address, and serves until it is
// killed.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { z } from "zod";

const [sdk, transport, era] = process.argv.slice(2);

const say = (text) => ({ content: [{ type: "text", text }] });
const requestedSchema = { type: "object", properties: { name: { type: "string" } } };

// addTools gives a server what the test uses; how says in which way this SDK tells and asks.
function addTools(server, how) {
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => say(text));
  server.registerTool("tell", { inputSchema: z.object({}) }, async (_, ctx) => {
    const progressToken = how.meta(ctx)?.progressToken;
    if (progressToken !== undefined) {
      await how.notify(ctx, { method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
    }
    await how.log(ctx, { level: "warning", data: "a log line" });
    return say("told");
  });
  server.registerTool("ask", { inputSchema: z.object({}) }, async (_, ctx) => how.ask(ctx, { message: "a name?", requestedSchema }));
  server.registerResource("one", "x:1", {}, async (uri) => ({ contents: [{ uri: uri.href, text: "the text of one" }] }));
  server.registerPrompt("greet", { argsSchema: how.argument(z.string()) }, async ({ who }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello ${who}` } }],
  }));
  return server;
}

const implementation = { name: "typescript", version: "1" };
const options = { capabilities: { logging: {} } };

async function sdk1() {
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const { completable } = await import("@modelcontextprotocol/sdk/server/completable.js");
  return {
    make: () => {
      const server = new McpServer(implementation, options);
      return addTools(server, {
        meta: (extra) => extra._meta,
        notify: (extra, notification) => extra.sendNotification(notification),
        log: (extra, params) => server.server.sendLoggingMessage(params, extra.sessionId),
        ask: async (extra, params) => {
          const { ElicitResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
          const answer = await extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
          return say(`answered ${answer.content?.name}`);
        },
        argument: (schema) => ({ who: completable(schema, (value) => [value + "!"]) }),
      });
    },
    Stdio: (await import("@modelcontextprotocol/sdk/server/stdio.js")).StdioServerTransport,
    Http: (await import("@modelcontextprotocol/sdk/server/streamableHttp.js")).StreamableHTTPServerTransport,
    Sse: (await import("@modelcontextprotocol/sdk/server/sse.js")).SSEServerTransport,
  };
}

async function sdk2() {
  const { McpServer, completable, createMcpHandler, inputRequired } = await import("@modelcontextprotocol/server");
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio");
  const { NodeStreamableHTTPServerTransport, toNodeHandler } = await import("@modelcontextprotocol/node");
  const make = () => {
    const server = new McpServer(implementation, options);
    return addTools(server, {
      meta: (ctx) => ctx.mcpReq._meta,
      notify: (ctx, notification) => ctx.mcpReq.notify(notification),
      log: (ctx, params) => ctx.mcpReq.log(params.level, params.data),
      ask: async (ctx, params) => {
        if (!ctx.mcpReq.envelope) {
          return say(`answered ${(await ctx.mcpReq.elicitInput({ mode: "form", ...params })).content?.name}`);
        }
        const answer = ctx.mcpReq.inputResponses?.q;
        if (answer) return say(`answered ${answer.content?.name}`);
        return inputRequired({ inputRequests: { q: { method: "elicitation/create", params } }, requestState: "asked" });
      },
      argument: (schema) => z.object({ who: completable(schema, (value) => [value + "!"]) }),
    });
  };
  const reject = era === "modern";
  return {
    make,
    stdio: () => serveStdio(make, { legacy: reject ? "reject" : "serve" }),
    stateless: () => toNodeHandler(createMcpHandler(make, { legacy: reject ? "reject" : "stateless" })),
    Http: NodeStreamableHTTPServerTransport,
  };
}

// sessions serves each session by a server of its own.
function sessions(kit) {
  const open = new Map();
  return async (req, res) => {
    let session = open.get(req.headers["mcp-session-id"]);
    if (!session) {
      session = new kit.Http({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => open.set(id, session) });
      await kit.make().connect(session);
    }
    await session.handleRequest(req, res);
  };
}

// stateless serves each request by a server of its own.
function stateless(kit) {
  return async (req, res) => {
    const one = new kit.Http({ sessionIdGenerator: undefined });
    await kit.make().connect(one);
    await one.handleRequest(req, res);
  };
}

function sse(kit) {
  const open = new Map();
  return async (req, res) => {
    if (req.method === "GET") {
      const stream = new kit.Sse("/messages", res);
      open.set(stream.sessionId, stream);
      await kit.make().connect(stream);
      return;
    }
    await open.get(new URL(req.url, "http://localhost").searchParams.get("sessionId")).handlePostMessage(req, res);
  };
}

const kit = await { sdk1, sdk2 }[sdk]();
if (transport === "stdio") {
  if (kit.stdio) kit.stdio();
  else await kit.make().connect(new kit.Stdio());
} else {
  const handle = transport === "stateless" && kit.stateless ? kit.stateless() : { sessions, stateless, sse }[transport](kit);
  const server = createServer((req, res) => {
    Promise.resolve(handle(req, res)).catch((error) => {
      console.error(error);
      res.destroy();
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
}
