import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { byCommand } from "../src/domain/audit/audit.ts";
import { generateKeyText, generateToken } from "../src/domain/keys/keys.ts";
import { revokeKey } from "../src/domain/keys/lifecycle.ts";
import { findOutcome } from "../src/domain/requests/outcomes.ts";
import { createRequestRecorder } from "../src/domain/requests/recorder.ts";
import {
  keptInTotal,
  keptPerCode,
  type RefusedRow,
  type RequestError,
} from "../src/domain/requests/store.ts";
import { type ErrorCode, unavailable } from "../src/domain/running/errors.ts";
import { generateSecret } from "../src/domain/webhooks/secrets.ts";
import { issueOperator } from "./support/admin/operators.ts";
import {
  type CallOptions,
  startTestService,
  surfaceEngine,
  type TestService,
} from "./support/service.ts";
import { until } from "./support/until.ts";

interface Outcome {
  readonly outcome: string;
  readonly advice: string;
  readonly error: RequestError | null;
  readonly changes: readonly { seq: number; petId: number; requestId: string }[];
}

const secretText = generateKeyText("production");
const webhookSecret = generateSecret();
const sessionToken = generateToken();
const ids = ["wh_0aBcDeFgHiJkL", `msg_${"0a".repeat(16)}`, "req_0123456789ab_1234567890123456"];
ids.push("-9223372036854775808");

describe.each([surfaceEngine])("what became of a request, on %s", (engine) => {
  let service: TestService;
  let key: { id: string; text: string };
  beforeAll(async () => {
    service = await startTestService(engine);
    await service.addPets({ petId: 1n }, { petId: 2n });
    key = await service.issueKey();
  });
  afterAll(() => service.stop());

  async function send(method: string, path: string, options: CallOptions = {}) {
    const response = await service.call(method, path, { key: key.text, ...options });
    return { ...response, requestId: response.headers.get("x-request-id")! };
  }
  const outcomeOf = async (requestId: string, asked = key.text) =>
    (await service.call("GET", `/requests/${requestId}`, { key: asked })).json as Outcome;

  /** Waits until the store has a request. */
  async function stored(requestId: string): Promise<RefusedRow> {
    let row: RefusedRow | undefined;
    const isStored = async () => {
      row = await service.store.requests.findRequest(requestId);
      return row !== undefined;
    };
    await until(isStored, 5_000, `the request ${requestId} in the store`);
    return row!;
  }

  test("a refused request is known at once to its own key, later to every instance, and never to another key", async () => {
    const headers = { "User-Agent": "till/2.4" };
    const { requestId, json } = await send("PATCH", "/inventory/1", { body: "{}", headers });
    const expected = {
      outcome: "refused",
      advice: expect.stringContaining("nothing will be"),
      error: {
        ...(json as object),
        ...{ method: "PATCH", path: "/v1/inventory/1", userAgent: "till/2.4" },
        at: new Date(service.clock.now()).toISOString(),
        durationMs: expect.any(Number),
      },
      changes: [],
    };
    expect(await outcomeOf(requestId)).toMatchObject(expected);
    await stored(requestId);
    await service.restart();
    expect(await outcomeOf(requestId)).toMatchObject(expected);
    const other = await service.issueKey();
    const foreign = await outcomeOf(requestId, other.text);
    expect(foreign).toMatchObject({ outcome: "unknown", error: null });
    const nobody = await outcomeOf("req_000000000000_1", other.text);
    expect({ ...foreign, requestId: "" }).toEqual({ ...nobody, requestId: "" });
  });

  test("a stored request has its ledger rows, and a read is unknown", async () => {
    const body = '{"changes":[{"petId":1,"delta":3},{"petId":2,"delta":4},{"petId":1,"delta":1}]}';
    const { requestId } = await send("POST", "/changes", { body });
    await send("PATCH", "/inventory/1", { body: '{"quantity":9}' });
    const outcome = await outcomeOf(requestId);
    expect(outcome).toMatchObject({ outcome: "stored", error: null });
    const rows = (await send("GET", "/changes")).json as Outcome["changes"];
    expect(outcome.changes).toEqual(rows.filter((row) => row.requestId === requestId));
    expect(outcome.changes.map(({ petId }) => petId)).toEqual([1, 2, 1]);
    const read = await send("GET", "/inventory");
    expect(await outcomeOf(read.requestId)).toMatchObject({
      outcome: "unknown",
      advice: expect.stringContaining("Idempotency-Key"),
    });
  });

  test("an update that got an error but was stored is found, also if the end of the ledger was noted since", async () => {
    const { store, clock } = service;
    let seq = (await store.inventory.readHead()).seq;
    const recorder = createRequestRecorder(
      store,
      clock,
      () => seq,
      () => {},
    );
    const startedMs = performance.now();
    const { requestId } = await send("PATCH", "/inventory/2", { body: '{"quantity":8}' });
    ({ seq } = await store.inventory.readHead());
    const error = { method: "PATCH", path: "", status: 500, code: "internal_error" } as const;
    const described = { ...error, message: "", durationMs: 0, userAgent: null };
    // Each save notes the end of the ledger, which is known for two minutes.
    for (const secondsAgo of [1, 200]) {
      for (let second = 0; second < secondsAgo; second++) await recorder.save();
      recorder.record(key.id, error.code, () => ({ requestId, startedMs, error: described }));
      const found = await findOutcome({ store, requests: recorder }, requestId, key.id);
      expect(found).toMatchObject({ outcome: "stored", rows: [{ seq }] });
    }
    await recorder.stop();
    expect(await outcomeOf(requestId)).toMatchObject({ outcome: "stored", changes: [{ seq }] });
  });

  test("neither a body, a query value nor a secret is kept, and what no database stores does no harm", async () => {
    const hostile = [
      send("GET", `/inventory?api_key=${secretText}`, { key: "psk_live_nonsense" }),
      send("GET", `/changes?sinse=2026-01-01&${secretText}=1`),
      send("GET", `/pets/${secretText}`, { headers: { "User-Agent": `agent ${secretText} é` } }),
      send("POST", "/changes", { body: '{"changes":[],"a\\u0000\\ud800b":"body value"}' }),
      send("GET", `/pets/${secretText.replaceAll("_", "%5F")}`),
      send("GET", `/${webhookSecret}`, {
        headers: { "User-Agent": `Bearer ${webhookSecret}; petstore_production=nonsense` },
      }),
      send("GET", "/pets%3Fat=2026-01-01"),
      send("GET", "/pets%253Fat=2026-01-01"),
      send("GET", `/console/${sessionToken}`),
      send("GET", `/pets/${secretText.toUpperCase()}`),
      send("GET", `/pets/${secretText.slice(9)}/history`),
      send("GET", `/pets/${secretText.replaceAll("_", "-")}`),
      send("GET", `/pets/${secretText.replaceAll("_", "%255F")}`),
      send("GET", `/pets/${btoa(`till:${secretText}`)}`),
      send("GET", `/pets/${secretText.slice(0, 20)}%20${secretText.slice(20)}/1`),
      send("GET", `/inventry/${secretText.slice(9)}`),
      send("GET", `/webhooks/${ids.join("/")}`),
    ];
    const answered = await Promise.all(hostile);
    const rows = await Promise.all(answered.map(({ requestId }) => stored(requestId)));
    expect(rows.map(({ error }) => error.path)).toEqual([
      "/v1/inventory",
      "/v1/changes",
      "/v1/pets/psk_live_[hidden]",
      "/v1/changes",
      "/v1/pets/psk_live_[hidden]",
      "/v1/whsec_[hidden]",
      "/v1/pets%3F…",
      "/v1/pets%3F…",
      "/v1/console/[hidden]",
      "/v1/pets/PSK_LIVE_[hidden]",
      "/v1/pets/[hidden]/history",
      "/v1/pets/[hidden]",
      "/v1/pets/psk_live_[hidden]",
      "/v1/pets/[hidden]",
      "/v1/pets/psk_live_[hidden]",
      "/v1/inventry/[hidden]",
      `/v1/webhooks/${ids.join("/")}`,
    ]);
    expect(rows[2]!.error.userAgent).toStartWith("agent psk_live_[hidden] ");
    expect(rows.at(-2)!.error.message).toEndWith("Did you mean /v1/inventory/[hidden]?");
    const kept = JSON.stringify(rows);
    const secrets = [secretText.slice(9, 20), secretText.slice(20, 30), sessionToken.slice(0, 12)];
    secrets.push(secretText.slice(9, 20).toUpperCase(), webhookSecret.slice(6, 30));
    for (const text of [...secrets, "2026-01-01", "body value", "nonsense"]) {
      expect(kept).not.toContain(text);
    }
  });

  test("the operator sees requests without a key apart, and a revoked key's requests under that key", async () => {
    const till = await service.issueKey({ name: "Till 9" });
    await revokeKey(service.store, till.id, byCommand(service.clock.now()));
    const sent = [generateKeyText("production"), till.text].map((text) =>
      send("GET", "/inventory", { key: text }),
    );
    const [unknown, revoked] = (await Promise.all(sent)).map(({ requestId }) => requestId);
    await Promise.all([stored(unknown!), stored(revoked!)]);
    const { text: operator } = await issueOperator(service);
    const list = async (query: string) =>
      (await service.call("GET", `~/admin/requests?${query}`, { key: operator }))
        .json as RefusedRow[];
    const ofTill = await list(`key=${till.id}&code=unauthorized`);
    expect(ofTill).toMatchObject([{ requestId: revoked, keyName: "Till 9", status: 401 }]);
    const ofNone = await list("key=none&limit=1000");
    expect(ofNone.map(({ requestId }) => requestId)).toContain(unknown!);
    expect(new Set(ofNone.map(({ keyId }) => keyId))).toEqual(new Set([null]));
    expect(await list("code=gone")).toEqual([]);
    const path = `~/admin/requests/${revoked}`;
    const found = await service.call("GET", path, { key: operator });
    expect(found.json).toMatchObject({ outcome: "refused", error: { code: "unauthorized" } });
  });

  test("a flood of one error keeps its last 100 and displaces no other, and pages list all", async () => {
    const till = await service.issueKey({ limits: { perMinute: 10_000, perDay: 10_000 } });
    const rare = await send("PUT", "/inventory", { key: till.text });
    await stored(rare.requestId);
    const { requests } = service.store;
    const row = (await requests.findRequest(rare.requestId))!;
    const flood = Array.from({ length: 3 * keptPerCode }, (_, at) => ({
      ...row,
      requestId: `flood ${at}`,
      error: { ...row.error, code: "not_found" as const, status: 404 },
    }));
    // Also if the answer of the store is lost and a group is sent again.
    for (const at of [0, 100, 100, 200]) await requests.addRequests(flood.slice(at, at + 100));
    const kept = await requests.listRequests({ keyId: till.id }, 1_000);
    expect(kept.map(({ requestId }) => requestId)).toEqual([
      ...flood
        .slice(-keptPerCode)
        .map(({ requestId }) => requestId)
        .reverse(),
      rare.requestId,
    ]);
    const { text: operator } = await issueOperator(service);
    const first = `~/admin/requests?key=${till.id}&limit=${keptPerCode}`;
    const page = await service.call("GET", first, { key: operator });
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link")!)![1];
    const second = await service.call("GET", `~${next}`, { key: operator });
    expect(second.json).toMatchObject([{ requestId: rare.requestId, code: "method_not_allowed" }]);
    expect(second.headers.get("link")).toBeNull();
  });

  if (engine === "sqlite")
    test("the store keeps a bounded number of requests of all keys, the newest ones", async () => {
      const { requestId } = await send("PUT", "/inventory");
      const row = await stored(requestId);
      const { requests } = service.store;
      const groups = keptInTotal / keptPerCode + 1;
      for (let group = 0; group < groups; group++) {
        const ofKey = Array.from({ length: keptPerCode }, (_, at) => ({
          ...row,
          ...{ keyId: `key_${group}`, requestId: `group ${group} ${at}` },
        }));
        await requests.addRequests(ofKey);
      }
      const kept = await requests.listRequests({}, 2 * keptInTotal);
      expect(kept).toHaveLength(keptInTotal);
      expect(kept.at(-1)!.requestId).toBe("group 1 0");
    });

  test("a store that fails delays the log and nothing else; what has no room is dropped and counted", async () => {
    const { store, clock } = service;
    let isDown = true;
    const addRequests: typeof store.requests.addRequests = async (rows) => {
      if (isDown) throw unavailable("unreachable");
      await store.requests.addRequests(rows);
    };
    const failing = { keys: store.keys, requests: { addRequests } };
    const recorder = createRequestRecorder(
      failing,
      clock,
      () => 0,
      () => {},
    );
    const name = `down ${engine}`;
    const record = (at: number, code: ErrorCode, keyId = key.id) =>
      recorder.record(keyId, code, () => ({
        ...{ requestId: `${name} ${at}`, startedMs: 0 },
        error: {
          ...{ status: 404, code, method: "GET" },
          path: "",
          message: "",
          durationMs: 0,
          userAgent: null,
        },
      }));
    for (let at = 0; at <= keptPerCode; at++) record(at, "gone");
    record(1_000, "not_found");
    expect(recorder.dropped()).toBe(1);
    expect(await recorder.save().catch((error: Error) => error.message)).toContain("reached");
    expect(recorder.findUnsaved(`${name} 0`)).toMatchObject({ error: { code: "gone" } });
    isDown = false;
    await recorder.save();
    expect(recorder.findUnsaved(`${name} 0`)).toBeUndefined();
    expect(await store.requests.listRequests({ code: "gone" }, 1_000)).toHaveLength(keptPerCode);
    for (let at = 0; at < 2_000; at++) record(at, "not_found", `key_${at}`);
    expect(recorder.dropped()).toBe(1_001);
    isDown = true;
    // Unlike other work in the background, the end of the service does not wait for the store.
    await recorder.stop();
  });
});
