// Loaded before a server (node --import gate.mjs server.js), keeps it from starting until there is the file that GATE names.

import { existsSync } from "node:fs";

while (!existsSync(process.env.GATE)) {
  await new Promise((resolve) => setTimeout(resolve, 5));
}
