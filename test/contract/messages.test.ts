import { afterAll, beforeAll, expect, test } from "bun:test";
import { documentedOperations } from "../support/contract/document.ts";
import { type CallOptions, startTestService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.addPets({ petId: 7n });
});
afterAll(() => service.stop());

/** In a 429, and where a moment is named, numbers and times depend on the key and the clock. */
const comparable = (message: string, status: number) =>
  status === 429 || /^The (?:ledger|time) /.test(message)
    ? message.replace(/[\d:T-]+Z?/g, "0")
    : message;

/** The messages that each operation sent. */
const sent = new Map(documentedOperations.map(({ operation }) => [operation, new Set<string>()]));

/** Sends the same request to every operation and records the error messages. */
async function callEvery(
  options: CallOptions,
  petId = "7",
  query = "",
  moment = "1",
): Promise<void> {
  for (const { path, method, operation } of documentedOperations) {
    const body = method === "GET" ? {} : { body: options.body ?? '{"quantity":1}' };
    const { body: _, ...rest } = options;
    const target = path.replace("{petId}", petId).replace("{moment}", moment) + query;
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
  await callEvery({ key }, "7", "?to=0", "x");
  await callEvery({ key }, "7", "?to=0", "9999");
  await callEvery({ key }, "7", "?to=0", "9999-01-01");
  await callEvery({ key, headers: { "If-Match": '"other"' } });
  await callEvery({ key, headers: { "Content-Type": "text/plain" } });
  await callEvery({ key, headers: { "Content-Encoding": "gzip" } });
  await callEvery({ key, body: "{}" });
  await callEvery({ key, body: '{"quantity":-1}' });
  await callEvery({ key, body: " ".repeat(70_000) });

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
