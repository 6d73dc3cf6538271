import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

interface Shown {
  readonly id: string;
  readonly secret: string;
  readonly state: string;
  readonly cursor: number;
  readonly behind: number;
  readonly oldSecretUntil: string | null;
  readonly attempts: readonly { readonly error: string; readonly firstSeq: number }[];
}

describe.each([surfaceEngine])("webhooks on %s", (engine) => {
  let service: TestService;
  let operator: { id: string; text: string };
  beforeAll(async () => {
    const flags = { "webhooks-allowed-networks": "127.0.0.0/8" };
    // On PostgreSQL, new webhooks are noticed after seconds.
    const webhooks = { ...readConfig({}, {}).webhooks, renewEveryMs: 200 };
    service = await startTestService(engine, flags, { webhooks });
    operator = await issueOperator(service, "Ada");
    await service.addPets({ petId: 9007199254740993n, quantity: 3 });
  });
  afterAll(() => service.stop());

  const call = (method: string, path: string, body?: object) =>
    service.call(method, `~/admin/webhooks${path}`, {
      key: operator.text,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  test("a webhook lives from its creation to its removal, and its secrets are shown once", async () => {
    // Nothing listens there.
    const url = "https://127.0.0.1:65535/secret-path?token=secret-token";
    const terms = { url, name: "<script>", pets: ["9007199254740993"], from: 1 };
    const created = await call("POST", "", terms);
    expect(created.status).toBe(201);
    const { id, secret } = created.json as Shown;
    expect(secret).toStartWith("whsec_");
    expect(created.text).toContain('"pets":[9007199254740993]');
    expect(created.json).toMatchObject({ state: "active", isResolved: true, behind: 1, cursor: 0 });

    const show = async () => (await call("GET", `/${id}`)).json as Shown;
    await until(async () => (await show()).attempts.length > 0, 10_000, "an attempt");
    const failing = await show();
    expect(failing.attempts[0]).toMatchObject({ firstSeq: 1, lastSeq: 1, status: null });
    // The first retry may follow at once, because its delay is random.
    const failures = failing.attempts.length;
    expect(failing).toMatchObject({ failures, failingSince: expect.any(String) });

    const paused = await call("POST", `/${id}/pause`);
    expect(paused.json).toMatchObject({ state: "paused", stateReason: "paused by an operator" });
    const rotated = (await call("POST", `/${id}/rotate`, { overlapSeconds: 60 })).json as Shown;
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.oldSecretUntil).toBe("2026-11-15T12:01:00.000Z");
    expect((await call("POST", `/${id}/rotate`)).json).toMatchObject({
      oldSecretUntil: "2026-11-16T12:00:00.000Z",
    });
    const replayed = await call("POST", `/${id}/replay`, { from: 2 });
    expect(replayed.json).toMatchObject({ state: "paused", cursor: 1, behind: 0, failures: 0 });
    expect((await call("POST", `/${id}/resume`)).json).toMatchObject({ state: "active" });
    const list = await call("GET", "");
    expect(list.json).toMatchObject([{ id, url, name: "<script>" }]);
    expect(list.text + JSON.stringify(await show())).not.toContain("whsec_");

    expect((await call("DELETE", `/${id}`)).status).toBe(204);
    expectError(await call("DELETE", `/${id}`), "not_found");
    expectError(await call("GET", `/${id}`), "not_found");
    const entries = await service.store.audit.listEntries({ target: id }, 20);
    expect(entries.map(({ action }) => action.replace("webhook.", "")).reverse()).toEqual([
      ...["created", "paused", "rotated", "rotated", "replayed", "resumed", "removed"],
    ]);
    expect(new Set(entries.map(({ keyId }) => keyId))).toEqual(new Set([operator.id]));
    const shown = { name: "<script>", url: "https://127.0.0.1:65535/…" };
    expect([entries[0]!.details, entries.at(-1)!.details]).toEqual([shown, shown]);
    const kept = JSON.stringify(entries) + service.logged.join("\n");
    expect(kept).not.toContain("whsec_");
    expect(kept).not.toContain("secret-");
  });

  test("the rules of the running service for addresses apply", async () => {
    for (const url of ["http://127.0.0.1:65535/", "https://10.0.0.1/", "https://[::1]/"]) {
      expectError(await call("POST", "", { url }), "invalid_request");
    }
    expect((await call("GET", "")).json).toEqual([]);
  });
});
