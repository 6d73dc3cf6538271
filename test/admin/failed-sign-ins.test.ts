import { expect, test } from "bun:test";
import { createFailedSignIns } from "../../src/http/admin/failed-sign-ins.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const wrong = `pso_live_${"x".repeat(49)}`;

test("wrong operator keys are logged with address and number, also beyond the limit, and without the key", async () => {
  const service = await startTestService("sqlite", { "sign-in-per-minute": "2" });
  const { text: apiKey } = await service.issueKey();
  for (const [key, status] of [
    [wrong, 401] as const,
    [apiKey, 401] as const,
    [wrong, 429] as const,
  ]) {
    expect((await service.call("POST", "~/admin/session", { key })).status).toBe(status);
  }
  // A browser whose session has ended, and a client of the API with a wrong key.
  await service.call("GET", "~/admin/session");
  await service.call("GET", "/inventory", { key: wrong });
  await service.stop();
  expect(service.logged).toEqual([
    '{"event":"sign-ins failed","address":"127.0.0.1","failures":3}',
  ]);
});

test("there is at most a line per interval and address, and addresses beyond a hundred share one", async () => {
  const lines: unknown[] = [];
  const signIns = createFailedSignIns((_event, details) => lines.push(details), 5);
  const request = new Request("http://a/", { headers: { Authorization: "Bearer a" } });
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.1"]) signIns.count(request, address);
  await until(() => lines.length > 0, 8_000, "a report");
  expect(lines).toEqual([
    { address: "192.0.2.1", failures: 2 },
    { address: "192.0.2.2", failures: 1 },
  ]);
  signIns.stop();
  for (let at = 0; at < 103; at++) signIns.count(request, `198.51.100.${at}`);
  signIns.stop();
  expect(lines.slice(2)).toHaveLength(101);
  expect(lines.at(-1)).toEqual({ address: "others", failures: 3 });
});
