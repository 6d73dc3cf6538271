import { expect, test } from "bun:test";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { rotateKey } from "../../src/domain/keys/lifecycle.ts";
import { dayMs, minuteMs } from "../../src/domain/values/times.ts";
import { onEngine } from "../support/conformance.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestResponse } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";

const isReplay = ({ headers }: TestResponse) => headers.get("Idempotent-Replayed") === "true";

onEngine(surfaceEngine, "an idempotency key", (service, engine) => {
  const issue = async () => (await service().issueKey()).text;
  const headersOf = (idempotencyKey: string) => ({ "Idempotency-Key": idempotencyKey });
  const update = (key: string, header: string, quantity: number | string, petId = 1) =>
    service().call("PATCH", `/inventory/${petId}`, {
      key,
      body: `{"quantity":${quantity}}`,
      headers: headersOf(header),
    });
  const batch = (key: string, header: string, changes: string) =>
    service().call("POST", "/changes", {
      key,
      body: `{"changes":[${changes}]}`,
      headers: headersOf(header),
    });
  const headSeq = async () => (await service().store.inventory.readHead()).seq;
  const tagOf = ({ headers }: TestResponse) => headers.get("ETag");

  /** A test of what does not depend on how the store keeps keys. One engine is enough for it. */
  const testOnce = (name: string, work: () => Promise<void>) => {
    if (engine === "sqlite") test(name, work);
  };

  test("gives a retry the first result, whatever was stored since, and changes nothing", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n }, { petId: 2n, quantity: 9 });
    const first = await update(key, "a-1", 5);
    const batched = '{"petId":1,"delta":2},{"petId":2,"quantity":7},{"petId":1,"delta":-1}';
    const firstBatch = await batch(key, "a-2", batched);
    expect([isReplay(first), isReplay(firstBatch)]).toEqual([false, false]);
    await update(key, "a-3", 70);
    await service().addPets({ petId: 1n, status: "sold" });
    await expectUnchanged(service().store, async () => {
      for (const written of ["5", "5.0", "50e-1"]) {
        const again = await update(key, '"a-1"', written);
        expect([again.status, again.text, tagOf(again)]).toEqual([200, first.text, tagOf(first)]);
        expect(isReplay(again)).toBe(true);
      }
      const again = await batch(key, "a-2", batched.replaceAll(",", " ,\n"));
      expect([again.status, again.text, isReplay(again)]).toEqual([200, firstBatch.text, true]);
    });
  });

  testOnce("is looked up before the condition of a retry", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const tag = tagOf(await service().call("GET", "/inventory/1", { key }))!;
    const send = () =>
      service().call("PATCH", "/inventory/1", {
        key,
        body: '{"quantity":3}',
        headers: { ...headersOf("conditional"), "If-Match": tag },
      });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
  });

  testOnce("with another body, pet or operation gets 422 and changes nothing", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n }, { petId: 2n });
    await update(key, "b-1", 5);
    await batch(key, "b-2", '{"petId":1,"delta":1}');
    await expectUnchanged(service().store, async () => {
      expectError(await update(key, "b-1", 6), "idempotency_key_reused");
      expectError(await update(key, "b-1", 5, 2), "idempotency_key_reused");
      expectError(await batch(key, "b-1", '{"petId":1,"quantity":5}'), "idempotency_key_reused");
      expectError(await update(key, "b-2", 1), "idempotency_key_reused");
      const others = ['{"petId":1,"quantity":1}', '{"petId":1,"delta":1,"reason":"x"}'];
      const more = ['{"petId":1,"delta":1},{"petId":1,"delta":1}', '{"petId":2,"delta":1}'];
      for (const changes of [...others, ...more, '{"petId":1,"delta":1,"expectedVersion":1}']) {
        expectError(await batch(key, "b-2", changes), "idempotency_key_reused");
      }
    });
  });

  test("belongs to one API key, and stays valid when that key is rotated", async () => {
    const own = await service().issueKey();
    const other = await issue();
    await service().addPets({ petId: 1n });
    const first = await update(own.text, "c-1", 5);
    const foreign = await update(other, "c-1", 6);
    expect([foreign.status, isReplay(foreign)]).toEqual([200, false]);
    const { store, clock } = service();
    const rotated = await rotateKey(store, "production", own.id, byCommand(clock.now()));
    const again = await update(rotated.text, "c-1", 5);
    expect([again.text, isReplay(again)]).toEqual([first.text, true]);
  });

  testOnce("is a quoted string or a bare token of 1 to 255 characters, sent once", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const accepted = ["5f0c1e9a-2b7d", `"${"x".repeat(255)}"`, '"a b, c"', '"\\"\\\\"', "a/b:c~"];
    for (const header of accepted) {
      const first = await update(key, header, 1);
      expect([header, first.status, isReplay(first)]).toEqual([header, 200, false]);
      expect(isReplay(await update(key, header, 1))).toBe(true);
    }
    // Quotes and escapes are not part of the key.
    expect(isReplay(await update(key, '"5f0c1e9a-2b7d"', 1))).toBe(true);
    const rejected = ["", '""', '"', '"a', 'a"', '"a"b', '"\\a"', '"a\\"', "a b", "a, a"];
    const long = ["x".repeat(256), `"${"x".repeat(256)}"`, "x".repeat(10_000)];
    await expectUnchanged(service().store, async () => {
      for (const header of [...rejected, ...long, '"a", "a"', '"a";b', '"é"', "é", '"a\tb"']) {
        const response = await update(key, header, 1);
        expectError(response, "invalid_request");
        expect(response.text).toContain("'Idempotency-Key'");
        expectError(await batch(key, header, '{"petId":1,"delta":1}'), "invalid_request");
      }
      const twice = new Headers([
        ["Authorization", `Bearer ${key}`],
        ["Idempotency-Key", "one"],
        ["Idempotency-Key", "one"],
      ]);
      const options = { method: "PATCH", headers: twice, body: '{"quantity":1}' };
      expect((await fetch(`${service().baseUrl}/inventory/1`, options)).status).toBe(400);
    });
  });

  test("of a request that failed is not remembered", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 0 });
    const before = await headSeq();
    expectError(await update(key, "d-1", -1), "invalid_request");
    expectError(await update(key, "d-2", 1, 50), "not_found");
    expectError(await batch(key, "d-3", '{"petId":1,"delta":-1}'), "insufficient_stock", 1);
    const stale = `{"petId":1,"delta":1,"expectedVersion":${before + 9}}`;
    expectError(await batch(key, "d-4", stale), "version_conflict", 1);
    const conditional = (tag: string) =>
      service().call("PATCH", "/inventory/1", {
        key,
        body: '{"quantity":4}',
        headers: { ...headersOf("d-5"), "If-Match": tag },
      });
    expectError(await conditional('"other"'), "precondition_failed");
    const slow = (await service().issueKey({ limits: { perMinute: 1, perDay: 100 } })).text;
    await service().call("GET", "/inventory/1", { key: slow });
    expectError(await update(slow, "d-6", 1), "rate_limit_exceeded");
    service().clock.advance(minuteMs);
    expect(await headSeq()).toBe(before);
    await service().addPets({ petId: 50n });
    const retried = [
      await update(key, "d-1", 1),
      await update(key, "d-2", 1, 50),
      await batch(key, "d-3", '{"petId":1,"delta":-1}'),
      await conditional("*"),
      await update(slow, "d-6", 1),
    ];
    for (const response of retried) {
      expect([response.status, isReplay(response)]).toEqual([200, false]);
    }
    expect(await headSeq()).toBe(before + 1 + retried.length);
  });

  testOnce(
    "of a request that got 503 because too many were waiting is not remembered",
    async () => {
      const busy = await startTestService(
        engine,
        {},
        { writesWaitingMax: 2, writesPerGroupMax: 1 },
      );
      const { text: key } = await busy.issueKey();
      await busy.addPets({ petId: 1n });
      const send = (at: number) =>
        busy.call("PATCH", "/inventory/1", {
          key,
          body: `{"quantity":${at}}`,
          headers: headersOf(`busy-${at}`),
        });
      const all = Array.from({ length: 60 }, (_, at) => at);
      const statuses = await Promise.all(all.map(async (at) => (await send(at)).status));
      expect(statuses).toContain(503);
      for (const at of all) {
        const again = await send(at);
        expect([again.status, isReplay(again)]).toEqual([200, statuses[at] === 200]);
      }
      expect((await busy.store.inventory.readHead()).seq).toBe(1 + all.length);
      await busy.stop();
    },
  );

  test("is applied once when many requests arrive at the same moment", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 100 });
    const before = await headSeq();
    const send = () => batch(key, "same-moment", '{"petId":1,"delta":-1},{"petId":1,"delta":-2}');
    const responses = await Promise.all(Array.from({ length: 20 }, send));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter((one) => !isReplay(one))).toHaveLength(1);
    expect(await headSeq()).toBe(before + 2);
  });

  test("is remembered across a restart", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const first = await update(key, "restart", 5);
    const firstBatch = await batch(key, "restart-2", '{"petId":1,"delta":1}');
    await service().restart();
    await expectUnchanged(service().store, async () => {
      const again = await update(key, "restart", 5);
      expect([again.text, tagOf(again), isReplay(again)]).toEqual([first.text, tagOf(first), true]);
      const againBatch = await batch(key, "restart-2", '{"petId":1,"delta":1}');
      expect([againBatch.text, isReplay(againBatch)]).toEqual([firstBatch.text, true]);
      expectError(await update(key, "restart", 6), "idempotency_key_reused");
    });
  });

  test("is remembered after the clock has jumped, an update and a restart", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const first = await update(key, "jump", 5);
    service().clock.jump(400 * dayMs);
    expect((await update(key, "jumped", 6)).status).toBe(200);
    await service().restart();
    const again = await update(key, "jump", 5);
    expect([again.text, isReplay(again)]).toEqual([first.text, true]);
  });

  test("is applied once when the first response is cut off at any moment", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 1_000 });
    const before = await headSeq();
    const body = '{"changes":[{"petId":1,"delta":-1}]}';
    const trials = 30;
    for (let trial = 0; trial < trials; trial++) {
      const client = await connectRaw(service().baseUrl);
      const head = `POST /v1/changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
      const lines = `Idempotency-Key: cut-${trial}\r\nContent-Length: ${body.length}\r\n\r\n`;
      client.send(head + lines + body);
      for (let turn = 0; turn < trial; turn++) await new Promise(setImmediate);
      client.abort();
      const again = await batch(key, `cut-${trial}`, '{"petId":1,"delta":-1}');
      expect(again.status).toBe(200);
    }
    const { json } = await service().call("GET", "/inventory/1", { key });
    expect((json as { quantity: number }).quantity).toBe(1_000 - trials);
    expect(await headSeq()).toBe(before + trials);
  });

  // Last, because it moves the clock by days.
  test("is remembered for seven days, and then a new one, before and after it is deleted", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const { clock, store } = service();
    const firstAt = clock.now();
    await update(key, "week-1", 5);
    await update(key, "week-2", 5);
    clock.set(firstAt + 7 * dayMs);
    expect(isReplay(await update(key, "week-1", 5))).toBe(true);
    clock.set(firstAt + 7 * dayMs + 1);
    const anew = await update(key, "week-1", 6);
    expect([anew.status, isReplay(anew)]).toEqual([200, false]);
    expect(isReplay(await update(key, "week-1", 6))).toBe(true);
    expect(await store.idempotency.prune(firstAt + 1, 1_000)).toBeGreaterThan(0);
    expect(await store.idempotency.prune(firstAt + 1, 1_000)).toBe(0);
    expect(isReplay(await update(key, "week-1", 6))).toBe(true);
    const pruned = await update(key, "week-2", 5);
    expect([pruned.status, isReplay(pruned)]).toEqual([200, false]);
  });
});

test("an idempotency key is applied once on two instances, also at the same moment", async () => {
  const here = await startTestService("postgres");
  const there = await startTestService("postgres", { database: here.databaseUrl });
  const { text: key } = await here.issueKey();
  await here.addPets({ petId: 1n });
  const send = (instance: typeof here, name: string, quantity: number) =>
    instance.call("PATCH", "/inventory/1", {
      key,
      body: `{"quantity":${quantity}}`,
      headers: { "Idempotency-Key": name },
    });
  const first = await send(here, "elsewhere", 5);
  await send(here, "later", 6);
  const again = await send(there, "elsewhere", 5);
  expect([again.text, isReplay(again)]).toEqual([first.text, true]);
  expect(again.headers.get("ETag")).toBe(first.headers.get("ETag"));
  expectError(await send(there, "elsewhere", 9), "idempotency_key_reused");
  for (let round = 0; round < 20; round++) {
    const both = [here, there, here, there].map((one) => send(one, `round-${round}`, round));
    const responses = await Promise.all(both);
    expect(responses.filter((one) => !isReplay(one))).toHaveLength(1);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
  }
  expect((await here.store.inventory.readHead()).seq).toBe(3 + 20);
  await Promise.all([here.stop(), there.stop()]);
});
