// Assistants that use the tools of a service.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { TestService } from "./service.ts";

/** The revisions of the protocol that the service speaks, the current one first. */
export const revisions = ["2026-07-28", "2025-11-25"] as const;

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
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
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
