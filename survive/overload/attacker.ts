// The process of the attackers: attacks as its parent says, one attack at a time, and reports each.
import type { TestResponse } from "../../test/support/service.ts";
import { connectRaw, type RawClient } from "../../test/support/socket.ts";
import { fetchTrust } from "../../test/support/tls.ts";
import { createRandom } from "../random.ts";
import { type Attack, type ShapeName, shapes } from "./shapes.ts";

export interface Order extends Pick<Attack, "baseUrl" | "key" | "operatorKey"> {
  readonly shape: ShapeName;
  readonly seed: number;
  readonly ms: number;
}

export interface AttackReport {
  readonly connections: number;
  /** Answers that were not well formed. */
  readonly malformed: readonly string[];
}

async function run({ shape, seed, ms, ...target }: Order): Promise<AttackReport> {
  const endsAt = performance.now() + ms;
  const open = new Set<RawClient>();
  const malformed: string[] = [];
  let connections = 0;
  const isOver = () => performance.now() >= endsAt;

  function check(answer: TestResponse): void {
    const { status } = answer;
    const fault = faultOf(answer);
    if (fault !== undefined && malformed.length < 5)
      malformed.push(`${fault}: ${status} ${answer.text}`);
  }

  const attacking = shapes[shape]({
    ...target,
    random: createRandom(seed),
    isOver,
    check,
    async open() {
      const client = await connectRaw(target.baseUrl);
      connections += 1;
      open.add(client);
      if (isOver()) client.abort();
      return client;
    },
    async fetch(path, options = {}) {
      const url = target.baseUrl + path;
      const headers = { Authorization: `Bearer ${target.key}`, ...options.headers };
      connections += 1;
      const once = { ...options, headers, keepalive: false };
      const response = await fetch(url, { ...once, ...fetchTrust(url) });
      const text = await response.text();
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        // Then `check` says that the answer has no Error.
      }
      check({ status: response.status, headers: response.headers, text, json });
    },
  });
  await Bun.sleep(ms);
  for (const client of open) client.abort();
  await attacking;
  return { connections, malformed };
}

/** What is wrong with an answer. The HTTP parser refuses without a body, the service with an Error. */
function faultOf({ status, headers, text, json }: TestResponse): string | undefined {
  if (!(status >= 100 && status < 600) || status === 500) return "an answer of a bug";
  if ((status === 429 || status === 503) && !(Number(headers.get("Retry-After")) >= 1))
    return "a refusal without Retry-After";
  const error = json as { status?: number; code?: string; message?: string } | undefined;
  const isError =
    error?.status === status && error.code !== undefined && error.message !== undefined;
  return status >= 400 && text !== "" && !isError ? "not an Error" : undefined;
}

process.on("message", async (order: Order) => {
  process.send!(
    await run(order).catch((error) => ({
      connections: 0,
      malformed: [String(error.stack)],
    })),
  );
});
process.on("disconnect", () => process.exit(0));
