// The floor: the least that Bun.serve can do to send the service's own answer. One handler, the
// prepared body, the captured headers put on every response; no key is looked at, nothing counted.
//
//   bun bench/floor.ts ANSWER.json BODY
import { readFileSync } from "node:fs";

const [answerFile, bodyFile] = process.argv.slice(2) as [string, string];
const headers = JSON.parse(readFileSync(answerFile, "utf8")) as Record<string, string>;
const body = new Blob([readFileSync(bodyFile)]);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/v1/inventory": () => new Response(body, { headers }),
  },
});

process.send!({ port: server.port });
