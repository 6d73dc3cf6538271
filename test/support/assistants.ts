// Assistants that use the tools of a service.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { TestService } from "./service.ts";

/** The revisions of the protocol that the service speaks, the current one first. */
export const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] as const;

/** A message of a revision with a handshake. */
export const earlier = (method: string, params: unknown = {}, id: unknown = "a") =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

export const version = (one: string) => ({ "MCP-Protocol-Version": one });

interface Said {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the result of any tool.
  readonly json: any;
}

/** The official client, in one revision of the protocol. */
export async function connect(
  service: Pick<TestService, "baseUrl">,
  key: string,
  revision: string,
) {
  const mode = revision === revisions[0] ? { pin: revision } : "legacy";
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode }, supportedProtocolVersions: [revision] },
  );
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", service.baseUrl), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  return {
    client,
    session: () => transport.sessionId,
    async use(name: string, given: Record<string, unknown> = {}): Promise<Said> {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const [{ text }] = content as unknown as [{ text: string }];
      return { isError: isError === true, text, json: isError ? undefined : JSON.parse(text) };
    },
    async names() {
      return (await client.listTools()).tools.map(({ name }) => name);
    },
  };
}
