// Loaded before a server (node --import loopback.mjs server.js), makes it listen on the loopback address alone and on a free
// port, whatever it asks for, and print a line "loopback port N" on stdout.

import net from "node:net";

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
  this.once("listening", () => console.log(`loopback port ${this.address().port}`));
  const ready = args.filter((arg) => typeof arg === "function");
  return listen.call(this, 0, "127.0.0.1", ...ready);
};
