// The floor: the minimum that Bun.serve does to send the service's response. One handler sends the
// prepared body with the captured headers. It checks no key and counts nothing.
//
//   bun bench/floor.ts HEADERS.json BODY
import { readFileSync } from "node:fs";

const [headersFile, bodyFile] = process.argv.slice(2) as [string, string];
const headers = JSON.parse(readFileSync(headersFile, "utf8")) as Record<string, string>;
const body = new Blob([readFileSync(bodyFile)]);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/v1/inventory": () => new Response(body, { headers }),
  },
});

process.send!({ port: server.port });
