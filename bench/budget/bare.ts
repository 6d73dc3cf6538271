// A bare server: what Bun itself does for a read and for an update. The handlers read one header and
// the body, and make a Response with prepared headers.
//
//   bun bench/budget/bare.ts HEADERS.json BODY
import { readFileSync } from "node:fs";
import type { IncomingRequest } from "../../src/http/messages/requests.ts";

export function createBareHandlers(body: Blob, headers: Headers) {
  return {
    read(request: Request): Response {
      request.headers.get("authorization");
      return new Response(body, { headers });
    },
    async update(request: IncomingRequest): Promise<Response> {
      request.headers.get("authorization");
      const quantity = (await request.text()).slice('{"quantity":'.length, -1);
      const entry = `{"petId":${request.params?.petId},"quantity":${quantity},"status":"sold"}`;
      return new Response(entry, { headers });
    },
  };
}

function serve(headersFile: string, bodyFile: string): void {
  const headers = new Headers(JSON.parse(readFileSync(headersFile, "utf8")));
  const { read, update } = createBareHandlers(new Blob([readFileSync(bodyFile)]), headers);
  const routes = { "/v1/inventory": read, "/v1/inventory/:petId": update };
  const { port } = Bun.serve({ hostname: "127.0.0.1", port: 0, routes });
  process.send!({ port });
}

if (import.meta.main) serve(process.argv[2]!, process.argv[3]!);
