// A server of the official TypeScript SDK, of both eras, with skills. Two of them have a skill of the same uri.
//
//   node skills.mjs NAME

import { McpServer } from "@modelcontextprotocol/server";
import { SkillsExtension, memorySkillFiles } from "@modelcontextprotocol/server/ext/skills";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [name] = process.argv.slice(2);
const skill = (title) => `---\nname: ${title}\ndescription: How ${name} does ${title}.\n---\n\n# ${title}\n\nSee references/guide.md.\n`;
const skills = await SkillsExtension.load(
  memorySkillFiles({
    "review/SKILL.md": skill("review"),
    "review/references/guide.md": `The guide of ${name}.\n`,
    [`${name}/SKILL.md`]: skill(name),
  }),
);

serveStdio(() => {
  const server = new McpServer({ name, version: "1" });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => ({ content: [{ type: "text", text }] }));
  skills.attach(server);
  return server;
});
