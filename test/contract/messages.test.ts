import { afterAll, beforeAll, expect, test } from "bun:test";
import { documentedOperations } from "../support/contract/document.ts";
import { openFeed } from "../support/feed.ts";
import { type CallOptions, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService("sqlite", { "streams-per-key": "1" });
  await service.addPets({ petId: 7n });
});
afterAll(() => service.stop());

/** In these, numbers and times depend on the key, the clock, the entry and the moment. */
const comparable = (message: string, status: number) => {
  if (/^The (?:ledger|time) /.test(message)) return message.replace(/[\d:T-]+Z?/g, "0");
  const withoutTags = status === 412 ? message.replace(/"[^"]+"/, '"tag"') : message;
  return [409, 412, 429].includes(status) ? withoutTags.replace(/-?\d+/g, "0") : message;
};

/** The messages that each operation sent. */
const sent = new Map(documentedOperations.map(({ operation }) => [operation, new Set<string>()]));

/** A batch that is valid for a known pet, whatever was stored before. */
const changesOf = (petId: string) => `{"changes":[{"petId":${petId},"delta":0}]}`;

/** Sends the same request to every operation and records the error messages. */
async function callEvery(
  options: CallOptions,
  petId = "7",
  query = "",
  moment = "1",
): Promise<void> {
  for (const { path, method, operation } of documentedOperations) {
    const valid = method === "POST" ? changesOf(petId) : '{"quantity":1}';
    const body = method === "GET" ? {} : { body: options.body ?? valid };
    const { body: _, ...rest } = options;
    const isKnown = !query.startsWith("?to=") || path.endsWith("/diff");
    const filled = path.replace("{petId}", petId).replace("{moment}", moment);
    const target = filled + (isKnown ? query : "");
    const { json, status } = await service.call(method, target, { ...rest, ...body });
    const { message } = (json ?? {}) as { message?: string };
    if (message !== undefined) sent.get(operation)!.add(comparable(message, status));
  }
}

test("every message in an example of a 4xx response is one that the operation sends", async () => {
  const key = (await service.issueKey()).text;
  await callEvery({});
  await callEvery({ key: (await service.issueKey({ scopes: [] })).text });
  await callEvery({ key }, "x");
  await callEvery({ key }, "404");
  for (const name of ["limit", "after", "before", "since", "until", "cause", "key"]) {
    await callEvery({ key }, "7", `?${name}=x`);
  }
  await callEvery({ key }, "7", "?verbose=1");
  await callEvery({ key, body: '{"comment":1}' });
  await callEvery({ key, body: '{"changes":[],"changes":[]}' });
  await callEvery({ key }, "7", "?to=0", "x");
  await callEvery({ key }, "7", "?to=0", "9999");
  await callEvery({ key }, "7", "?to=0", "9999-01-01");
  await callEvery({ key, headers: { "If-Match": '"other"' } });
  await callEvery({ key, headers: { "If-Match": "1207" } });
  await callEvery({ key, headers: { "Content-Type": "text/plain" } });
  await callEvery({ key, headers: { "Content-Encoding": "gzip" } });
  await callEvery({ key, body: "{}" });
  await callEvery({ key, body: '{"quantity":-1}' });
  await callEvery({ key, body: '{"dryRun":1}' });
  await callEvery({ key, body: " ".repeat(70_000) });
  await callEvery({ key, body: " ".repeat(300_000) });
  await callEvery({ key, headers: { "Idempotency-Key": "" } });
  await callEvery({ key, headers: { "X-Change-Reason": "%" } });
  for (const body of ['{"quantity":1,"changes":[{"petId":7,"delta":1}]}', '{"quantity":2}']) {
    await callEvery({ key, body, headers: { "Idempotency-Key": "one" } });
  }
  const reused = '{"changes":[{"petId":7,"delta":2}]}';
  await callEvery({ key, body: reused, headers: { "Idempotency-Key": "one" } });
  const changes = ["{}", '{"petId":7}', '{"petId":7,"delta":-9}', '{"petId":8,"delta":1}'];
  for (const change of [...changes, '{"petId":7,"delta":0,"expectedVersion":9999}']) {
    await callEvery({ key, body: `{"changes":[${change}]}` });
  }

  const stream = { Accept: "text/event-stream" };
  await callEvery({ key, headers: stream }, "7", "?after=x");
  await callEvery({ key, headers: stream }, "7", "?limit=1");
  await callEvery({ key, headers: { ...stream, "Last-Event-ID": "x" } });
  const open = await openFeed(service.baseUrl, { key });
  await callEvery({ key, headers: stream });
  open.leave();

  const limited = (await service.issueKey({ limits: { perMinute: 2, perDay: 1_000 } })).text;
  for (let call = 0; call < 2; call++) await callEvery({ key: limited });
  service.clock.set(service.clock.now() + 2_000);
  for (let call = 0; call < 10; call++) await callEvery({ key: limited });

  service.clock.set(Date.UTC(2028, 0, 1));
  await callEvery({ key });

  for (const { operation } of documentedOperations) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (!/^4/.test(status)) continue;
      const examples = Object.values(content!["application/json"].examples);
      for (const { value } of examples) {
        const { message } = value as { message: string };
        expect([...sent.get(operation)!]).toContain(comparable(message, Number(status)));
      }
    }
  }
});
