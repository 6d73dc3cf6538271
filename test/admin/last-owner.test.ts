import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { anEntry } from "../support/audit.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const hour = 3_600_000;

describe.each([surfaceEngine])("the last owner of a store on %s", (engine) => {
  let service: TestService;
  let ada: { id: string; text: string };
  beforeEach(async () => {
    service = await startTestService(engine);
    ada = await issueOperator(service);
  });
  afterEach(() => service.stop());

  const send = (method: string, path: string, body?: unknown, key = ada.text) =>
    service.call(method, `~/admin/keys/${path}`, {
      key,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const isoIn = (ms: number) => new Date(service.clock.now() + ms).toISOString();

  /** Every way to take the rights of an owner, with `query` at its end. */
  const losses = (id: string, key = ada.text): ((query?: string) => ReturnType<typeof send>)[] => [
    (query = "") => send("POST", `${id}/revoke${query}`, undefined, key),
    (query = "") => send("PATCH", `${id}${query}`, { role: "clerk" }, key),
    (query = "") => send("PATCH", `${id}${query}`, { name: "A", role: "viewer" }, key),
    (query = "") => send("PATCH", `${id}${query}`, { expiresAt: isoIn(hour) }, key),
  ];

  test("is refused what would leave none, and nothing changes", async () => {
    const [before, audited] = [await service.store.keys.listKeys(), () => send("GET", "../audit")];
    const rows = (await audited()).text;
    for (const lose of losses(ada.id)) expectError(await lose(), "last_owner");
    expect(await service.store.keys.listKeys()).toEqual(before);
    expect((await audited()).text).toBe(rows);
  });

  test("does it with force", async () => {
    for (const at of losses("").keys()) {
      const { id, text } = at === 0 ? ada : await issueOperator(service);
      const lose = losses(id, text)[at]!;
      expectError(await lose("?force=false"), "last_owner");
      expect((await lose("?force=true")).status).toBe(200);
      // For the next one, the store has no other owner.
      if (at === 3) service.clock.advance(hour);
    }
  });

  test("is asked if the others are expired, revoked, banned or no owners, or will be", async () => {
    const { keys, usage } = service.store;
    const other = async (name: string, role: "clerk" | "owner" = "owner") =>
      (await issueOperator(service, name, "production", role)).id;
    await other("Clerk", "clerk");
    await send("POST", `${await other("Revoked")}/revoke`);
    await send("PATCH", await other("Expired"), { expiresAt: isoIn(hour) });
    service.clock.advance(hour);
    const [now, keyId] = [service.clock.now(), await other("Banned")];
    await usage.saveBan({ keyId, startedAt: now, until: now + hour, liftedAt: null });
    await send("PATCH", await other("Ending"), { expiresAt: isoIn(hour) });
    expect((await keys.listKeys()).length).toBe(6);
    for (const lose of losses(ada.id)) expectError(await lose(), "last_owner");
    await usage.liftBan(keyId, service.clock.now(), anEntry);
    for (const lose of losses(ada.id).slice(3)) expect((await lose()).status).toBe(200);
    expect((await send("POST", `${ada.id}/revoke`)).status).toBe(200);
  });

  test("is not asked about what takes nothing away", async () => {
    const grace = await issueOperator(service, "Grace");
    expect((await send("PATCH", grace.id, { role: "clerk" })).status).toBe(200);
    expect((await send("POST", `${grace.id}/revoke`)).status).toBe(200);
    expect((await send("PATCH", ada.id, { name: "New", role: "owner" })).status).toBe(200);
    const { id } = await service.issueKey();
    expect((await send("PATCH", id, { expiresAt: isoIn(hour) })).status).toBe(200);
    expect((await send("POST", `${id}/revoke`)).status).toBe(200);
    const ended = await send("PATCH", `${ada.id}?force=true`, { expiresAt: isoIn(hour) });
    expect(ended.status).toBe(200);
    expect((await send("PATCH", ada.id, { expiresAt: isoIn(2 * hour) })).status).toBe(200);
    // The response has the new secret.
    const rotated = await send("POST", `${ada.id}/rotate`, { overlapSeconds: 0 });
    expect(rotated.status).toBe(200);
    const { key } = rotated.json as { key: string };
    expectError(
      await send("POST", `${ada.id}/unban?force=true`, undefined, key),
      "invalid_request",
    );
  });

  test("is one of two who demote or revoke each other at the same time", async () => {
    let [one, other] = [ada, await issueOperator(service, "Grace")];
    for (let round = 0; round < 12; round++) {
      const lose = [losses(one.id, other.text)[round % 4]!, losses(other.id, one.text)[0]!];
      const statuses = await Promise.all(lose.map(async (run) => (await run()).status));
      // The second may also be too late to do anything.
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      const [left] = (await service.store.keys.listKeys()).filter(
        ({ scopes, revokedAt, expiresAt }) =>
          scopes.includes("operator") && revokedAt === null && expiresAt === null,
      );
      expect(left).toBeDefined();
      one = left!.id === one.id ? one : other;
      expect((await send("GET", one.id, undefined, one.text)).status).toBe(200);
      other = await issueOperator(service, `Owner ${round}`);
    }
  });
});
