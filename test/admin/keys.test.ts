import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

interface KeyJson {
  readonly id: string;
  readonly key: string;
  readonly [field: string]: unknown;
}

describe.each([surfaceEngine])("keys in the operator API on %s", (engine) => {
  let service: TestService;
  let operator: { id: string; text: string };
  beforeAll(async () => {
    service = await startTestService(engine, { "ban-grace-ms": "1", "ban-strikes-min": "2" });
    operator = await issueOperator(service);
  });
  afterAll(() => service.stop());

  const ask = (method: string, path: string, body?: unknown) =>
    service.call(method, `~/admin${path}`, {
      key: operator.text,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const get = async (id: string) => (await ask("GET", `/keys/${id}`)).json as KeyJson;
  const create = async (terms: Record<string, unknown>) =>
    (await ask("POST", "/keys", { name: "Till", plan: "pro", ...terms })).json as KeyJson;
  const use = async (key: string) => (await service.call("GET", "/inventory", { key })).status;
  const isoIn = (ms: number) => new Date(service.clock.now() + ms).toISOString();

  /** The audit log of one key, the oldest row first. */
  const audited = async (id: string) => {
    const rows = (await ask("GET", `/audit?target=${id}`)).json as Record<string, unknown>[];
    return rows.toReversed();
  };

  test("the life of a key: created, changed, rotated, revoked, each with its row in the audit log", async () => {
    const created = await ask("POST", "/keys", {
      name: " Till ",
      plan: "enterprise",
      perMinute: 100,
      perDay: 5_000,
      scopes: ["pets:read", "inventory:read"],
      expiresAt: isoIn(86_400_000),
    });
    expect(created.status).toBe(201);
    const { key: text, ...shown } = created.json as KeyJson;
    expect(text).toMatch(/^psk_live_[0-9A-Za-z]{49}$/);
    expect(shown).toEqual({
      role: null,
      id: expect.stringMatching(/^key_/),
      name: "Till",
      kind: "api",
      plan: "enterprise",
      limits: { perMinute: 100, perDay: 5_000 },
      scopes: ["inventory:read", "pets:read"],
      state: "active",
      createdAt: isoIn(0),
      expiresAt: isoIn(86_400_000),
      revokedAt: null,
      lastUsedAt: null,
      bannedUntil: null,
      minute: { used: 0, limit: 100, resetsAt: expect.any(String) },
      day: { used: 0, limit: 5_000, resetsAt: expect.any(String) },
      secrets: [{ createdAt: isoIn(0), expiresAt: null }],
    });
    const { id } = shown;
    expect(await use(text)).toBe(200);
    const changed = await ask("PATCH", `/keys/${id}`, { plan: "pro", expiresAt: null });
    expect(changed.json).toMatchObject({
      name: "Till",
      plan: "pro",
      limits: { perMinute: 300, perDay: 10_000 },
      expiresAt: null,
    });
    service.clock.advance(1);
    const rotated = await ask("POST", `/keys/${id}/rotate`, { overlapSeconds: 60 });
    const { key: next } = rotated.json as KeyJson;
    expect(rotated.json).toMatchObject({ oldValidUntil: isoIn(60_000), plan: "pro" });
    expect((await get(id)).secrets).toEqual([
      { createdAt: isoIn(-1), expiresAt: isoIn(60_000) },
      { createdAt: isoIn(0), expiresAt: null },
    ]);
    expect([await use(text), await use(next)]).toEqual([200, 200]);
    service.clock.advance(60_000);
    expect([await use(text), await use(next)]).toEqual([401, 200]);
    const revoked = await ask("POST", `/keys/${id}/revoke`);
    expect(revoked.json).toMatchObject({ state: "revoked", revokedAt: isoIn(0), secrets: [] });
    expect(await use(next)).toBe(401);
    expectError(await ask("PATCH", `/keys/${id}`, { name: "New" }), "invalid_request");
    expectError(await ask("POST", `/keys/${id}/rotate`), "invalid_request");
    expect((await ask("POST", `/keys/${id}/revoke`)).json).toEqual(revoked.json);
    const rows = await audited(id);
    expect(rows.map(({ action }) => action)).toEqual([
      "key.created",
      "key.changed",
      "key.rotated",
      "key.revoked",
    ]);
    for (const row of rows) expect(row).toMatchObject({ keyId: operator.id, keyName: "Ada" });
    expect(rows.map(({ requestId }) => requestId)).toEqual(
      [created, changed, rotated, revoked].map(({ headers }) => headers.get("x-request-id")),
    );
    expect(rows[1]!.details).toEqual({ plan: "pro", expiresAt: null });
    const log = JSON.stringify((await ask("GET", "/audit?limit=1000")).json);
    for (const secret of [text, next]) expect(log).not.toContain(secret);
  });

  test("a change takes effect with the next request, and one without a field changes nothing", async () => {
    const { id, key } = await create({});
    expect(await use(key)).toBe(200);
    await ask("PATCH", `/keys/${id}`, { scopes: ["orders:read"] });
    expect(await use(key)).toBe(403);
    const before = await audited(id);
    const same = await ask("PATCH", `/keys/${id}`, {});
    expect(same.json).toMatchObject({ name: "Till", scopes: ["orders:read"] });
    expect(await audited(id)).toEqual(before);
  });

  test("changes of different fields at the same time are all made", async () => {
    const { id } = await create({ plan: "enterprise", perMinute: 1, perDay: 1 });
    const changes = [
      { name: "A" },
      { perMinute: 7 },
      { perDay: 8 },
      { scopes: ["orders:read"] },
      { expiresAt: isoIn(1_000) },
    ];
    const changed = await Promise.all(changes.map((one) => ask("PATCH", `/keys/${id}`, one)));
    expect(changed.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect(await get(id)).toMatchObject({
      name: "A",
      limits: { perMinute: 7, perDay: 8 },
      scopes: ["orders:read"],
      expiresAt: isoIn(1_000),
    });
    expect(await audited(id)).toHaveLength(1 + changes.length);
  });

  test("an operator key is created without a plan, and signs in", async () => {
    const created = await ask("POST", "/keys", { name: "Grace", kind: "operator" });
    const { key, ...shown } = created.json as KeyJson;
    expect(key).toMatch(/^pso_live_/);
    expect(shown).toMatchObject({ kind: "operator", plan: null, scopes: ["operator"] });
    expect((await service.call("POST", "~/admin/session", { key })).status).toBe(201);
    for (const terms of [{ plan: "pro" }, { perDay: 5 }, { scopes: ["pets:read"] }]) {
      expectError(
        await ask("POST", "/keys", { name: "G", kind: "operator", ...terms }),
        "invalid_request",
      );
      expectError(await ask("PATCH", `/keys/${shown.id}`, terms), "invalid_request");
    }
    const renamed = await ask("PATCH", `/keys/${shown.id}`, { name: "Grace H." });
    expect(renamed.json).toMatchObject({ name: "Grace H.", kind: "operator" });
  });

  test("the use of this minute and today is exact at once, and starts again in the next window", async () => {
    const { id, key } = await create({});
    for (const used of [1, 2, 3]) {
      expect(await use(key)).toBe(200);
      expect(await get(id)).toMatchObject({ minute: { used, limit: 300 }, day: { used } });
    }
    expect((await get(id)).lastUsedAt).toBe(isoIn(0));
    const { minute } = (await get(id)) as unknown as { minute: { resetsAt: string } };
    service.clock.set(Date.parse(minute.resetsAt));
    expect(await get(id)).toMatchObject({ minute: { used: 0 }, day: { used: 3 } });
    const listed = (await ask("GET", "/keys")).json as KeyJson[];
    expect(listed.find((one) => one.id === id)).toEqual(await get(id));
    expect(listed.map((one) => one.id)).toEqual(
      (await service.store.keys.listKeys()).map((one) => one.id),
    );
  });

  test("a banned key is shown with the end of its ban, and works again once the ban is lifted", async () => {
    const { id, key } = await create({ plan: "enterprise", perMinute: 1, perDay: 1_000 });
    expect(await use(key)).toBe(200);
    expect(await use(key)).toBe(429);
    service.clock.advance(2);
    for (let strike = 0; strike < 3; strike++) expect(await use(key)).toBe(429);
    expect(await get(id)).toMatchObject({ state: "banned", bannedUntil: expect.any(String) });
    const lifted = await ask("POST", `/keys/${id}/unban`);
    expect(lifted.json).toMatchObject({ state: "active", bannedUntil: null });
    service.clock.advance(60_000);
    expect(await use(key)).toBe(200);
    expect((await ask("POST", `/keys/${id}/unban`)).status).toBe(200);
    const actions = (await audited(id)).map(({ action }) => action);
    expect(actions).toEqual(["key.created", "ban.lifted"]);
  });

  test("a hostile body gets an error that names the field, and no key", async () => {
    const before = (await service.store.keys.listKeys()).length;
    const deep = `{"plan":"pro","name":${"[".repeat(30_000)}${"]".repeat(30_000)}}`;
    for (const [body, part] of [
      ['{"name":5,"plan":"pro"}', "'name'"],
      ['{"name":{"a":1},"plan":"pro"}', "'name'"],
      ['{"name":"","plan":"pro"}', "'name'"],
      [`{"name":"${"x".repeat(201)}","plan":"pro"}`, "'name'"],
      ['{"name":"a\\u0000b","plan":"pro"}', "'name'"],
      ['{"name":"a\\u001b[2Jb","plan":"pro"}', "'name'"],
      ['{"name":"a","plan":"operator"}', "'plan'"],
      ['{"name":"a","plan":"__proto__"}', "'plan'"],
      ['{"name":"a","plan":"enterprise"}', "'perMinute'"],
      ['{"name":"a","plan":"enterprise","perMinute":1.5,"perDay":1}', "'perMinute'"],
      ['{"name":"a","plan":"enterprise","perMinute":1,"perDay":1e400}', "'perDay'"],
      ['{"name":"a","plan":"enterprise","perMinute":1,"perDay":9007199254740993}', "'perDay'"],
      ['{"name":"a","plan":"pro","perDay":5}', "'perDay'"],
      ['{"name":"a","plan":"pro","scopes":"pets:read"}', "'scopes'"],
      ['{"name":"a","plan":"pro","scopes":["operator"]}', "'scopes'"],
      ['{"name":"a","plan":"pro","scopes":[]}', "'scopes'"],
      ['{"name":"a","plan":"pro","expiresAt":"2020-01-01"}', "'expiresAt'"],
      ['{"name":"a","plan":"pro","expiresAt":"2027-02-30"}', "'expiresAt'"],
      ['{"name":"a","plan":"pro","kind":"root"}', "'kind'"],
      ['{"__proto__":{"name":"a","plan":"pro"}}', "field '__proto__'"],
      ['{"constructor":{"name":"a"}}', "field 'constructor'"],
      [deep, "JSON"],
      ["[1,", "JSON"],
      ["null", "object"],
    ] as const) {
      const response = await service.call("POST", "~/admin/keys", { key: operator.text, body });
      expectError(response, "invalid_request");
      expect(response.text).toContain(part);
    }
    expect((await service.store.keys.listKeys()).length).toBe(before);
  });

  test("names keep every character that is not a control character", async () => {
    const name = `<img src=x onerror=alert(1)> "Zoë" 🐕 ' OR 1=1 --`;
    const { id } = await create({ name });
    expect((await get(id)).name).toBe(name);
  });

  test("ids that are no ids are not found, and reach no database", async () => {
    for (const id of ["%00", "key_%27", "%F0%9F%90%95", "key_", `key_${"a".repeat(33)}`, ".."]) {
      for (const [method, rest] of [
        ["GET", ""],
        ["POST", "/revoke"],
      ] as const) {
        const response = await ask(method, `/keys/${id}${rest}`);
        expect([id, response.status]).toEqual([id, 404]);
      }
    }
  });

  test("the audit log is paged by Link, newest first, and filtered", async () => {
    const { id } = await create({ name: "First" });
    await create({ name: "Second" });
    await ask("PATCH", `/keys/${id}`, { name: "Third" });
    const all = (await ask("GET", "/audit?limit=1000")).json as { seq: number }[];
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).sort((a, b) => b - a));
    const pages: unknown[] = [];
    let next: string | undefined = "/audit?limit=2&action=key.created";
    while (next !== undefined) {
      const { json, headers } = await ask("GET", next);
      expect(json).toBeArray();
      pages.push(...(json as unknown[]));
      next = /^<\/admin([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
    }
    const created = all.filter((row) => (row as { action?: string }).action === "key.created");
    expect(pages).toEqual(created);
    const mine = (await ask("GET", `/audit?target=${id}&keyId=${operator.id}`)).json as unknown[];
    expect(mine).toMatchObject([{ action: "key.changed" }, { action: "key.created" }]);
    expect((await ask("GET", "/audit?keyId=key_0")).json).toEqual([]);
  });
});
