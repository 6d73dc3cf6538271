import { expect, test } from "bun:test";
import { onEveryEngine, withService } from "../support/conformance.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import type { TestResponse, TestService } from "../support/service.ts";

const dayMs = 86_400_000;

const tagOf = ({ headers }: TestResponse) => headers.get("ETag")!;
const isReplayed = ({ headers }: TestResponse) => headers.get("Idempotent-Replayed") === "true";
const quantityOf = ({ json }: TestResponse) => (json as { quantity: number }).quantity;
const messageOf = ({ json }: TestResponse) => (json as { message: string }).message;

onEveryEngine("safe writes", (service, engine) => {
  const issue = async () => (await service().issueKey()).text;
  const read = (key: string, headers: Record<string, string> = {}, method = "GET") =>
    service().call(method, "/inventory/1", { key, headers });
  const update = (key: string, quantity: number | string, headers: Record<string, string> = {}) =>
    service().call("PATCH", "/inventory/1", { key, headers, body: `{"quantity":${quantity}}` });
  const apply = (key: string, changes: string, headers: Record<string, string> = {}) =>
    service().call("POST", "/changes", { key, headers, body: `{"changes":[${changes}]}` });

  test("[safe.entry] GET /inventory/{petId} returns one entry with a strong ETag, and 304 while it is current", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 3, status: "pending" });
    const entry = await read(key);
    expect([entry.status, entry.text]).toEqual([
      200,
      '{"petId":1,"quantity":3,"status":"pending"}',
    ]);
    expect(tagOf(entry)).toMatch(/^"[^"]+"$/);
    expect((await read(key, { "If-None-Match": tagOf(entry) })).status).toBe(304);
    const headers = await read(key, {}, "HEAD");
    expect([headers.status, headers.text, tagOf(headers)]).toEqual([200, "", tagOf(entry)]);
    const updated = await update(key, 3);
    const again = await read(key, { "If-None-Match": tagOf(entry) });
    expect([again.status, tagOf(again)]).toEqual([200, tagOf(updated)]);
    expectError(await service().call("GET", "/inventory/404", { key }), "not_found");
  });

  test("[safe.etag] the ETag of an entry changes with every change of the entry, and with nothing else", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n }, { petId: 2n });
    const tag = tagOf(await update(key, 5));
    await service().call("PATCH", "/inventory/2", { key, body: '{"quantity":1}' });
    await service().restart();
    expect(tagOf(await read(key))).toBe(tag);
    const next = await update(key, 6, { "If-Match": tag });
    expect([next.status, tagOf(next) === tag]).toEqual([200, false]);
  });

  test("[safe.lost-update] of two updates with the same If-Match at the same moment exactly one succeeds", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    for (let round = 0; round < 10; round++) {
      const tag = tagOf(await read(key));
      const sent = [round * 2, round * 2 + 1];
      const both = await Promise.all(sent.map((count) => update(key, count, { "If-Match": tag })));
      const [won, lost] = both[0]!.status === 200 ? both : both.toReversed();
      expect(won!.status).toBe(200);
      expectError(lost!, "precondition_failed");
      expect(tagOf(lost!)).toBe(tagOf(won!));
      expect(messageOf(lost!)).toContain(`quantity is ${quantityOf(won!)}`);
      expect(quantityOf(await read(key))).toBe(quantityOf(won!));
    }
  });

  test("[safe.retry] a retry with the same Idempotency-Key gets the first result and changes nothing", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 9 });
    const first = await update(key, 5, { "Idempotency-Key": '"count-1"' });
    const sale = '{"petId":1,"delta":-2}';
    const sold = await apply(key, sale, { "Idempotency-Key": "sale-1" });
    expect([isReplayed(first), isReplayed(sold)]).toEqual([false, false]);
    await update(key, 70);
    await service().restart();
    await expectUnchanged(service().store, async () => {
      const again = await update(key, "5.0", { "Idempotency-Key": "count-1" });
      expect([again.status, again.text, tagOf(again)]).toEqual([200, first.text, tagOf(first)]);
      const soldAgain = await apply(key, ` ${sale} `, { "Idempotency-Key": "sale-1" });
      expect([soldAgain.status, soldAgain.text]).toEqual([200, sold.text]);
      expect([isReplayed(again), isReplayed(soldAgain)]).toEqual([true, true]);
    });
  });

  test("[safe.retry-together] many requests with one Idempotency-Key at the same moment are applied once", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 100 });
    const send = () => apply(key, '{"petId":1,"delta":-1}', { "Idempotency-Key": "together" });
    const responses = await Promise.all(Array.from({ length: 20 }, send));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter((response) => !isReplayed(response))).toHaveLength(1);
    expect(quantityOf(await read(key))).toBe(99);
  });

  test("[safe.retry-condition] a retry of a successful update with If-Match gets 200 again, not 412", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const headers = { "If-Match": tagOf(await read(key)), "Idempotency-Key": "conditional" };
    const first = await update(key, 3, headers);
    const again = await update(key, 3, headers);
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
  });

  test("[safe.reused] the same Idempotency-Key with a different request gets 422 and changes nothing", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const headers = { "Idempotency-Key": "used" };
    await update(key, 5, headers);
    await expectUnchanged(service().store, async () => {
      expectError(await update(key, 6, headers), "idempotency_key_reused");
      const batch = await apply(key, '{"petId":1,"quantity":5}', headers);
      expectError(batch, "idempotency_key_reused");
    });
  });

  test("[safe.not-remembered] a request that failed is not remembered, and a retry is executed", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 1 });
    const headers = { "Idempotency-Key": "failed" };
    const sale = '{"petId":1,"delta":-2}';
    expectError(await apply(key, sale, headers), "insufficient_stock", 1);
    await update(key, 2);
    const again = await apply(key, sale, headers);
    expect([again.status, isReplayed(again)]).toEqual([200, false]);
    expect(quantityOf(await read(key))).toBe(0);
  });

  test("[safe.own-keys] an Idempotency-Key belongs to the API key that sent it", async () => {
    const [one, other] = [await issue(), await issue()];
    await service().addPets({ petId: 1n });
    const headers = { "Idempotency-Key": "mine" };
    await update(one, 5, headers);
    const foreign = await update(other, 6, headers);
    expect([foreign.status, isReplayed(foreign)]).toEqual([200, false]);
  });

  test("[safe.key-format] an Idempotency-Key is a quoted string or a token of 1 to 255 characters", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    for (const sent of ["5f0c1e9a-2b7d", '"a b, c"', `"${"x".repeat(255)}"`, '"\\"\\\\"']) {
      expect((await update(key, 1, { "Idempotency-Key": sent })).status).toBe(200);
    }
    await expectUnchanged(service().store, async () => {
      for (const sent of ["", '""', '"a', "a b", "x".repeat(256), '"a", "b"', '"\\a"']) {
        const response = await update(key, 1, { "Idempotency-Key": sent });
        expectError(response, "invalid_request");
        expect(messageOf(response)).toContain("'Idempotency-Key'");
      }
    });
  });

  test("[safe.kept] results are kept for seven days, or as long as the operator says", async () => {
    const expectKept = async (kept: TestService, days: number) => {
      const { text: key } = await kept.issueKey();
      await kept.addPets({ petId: 1n });
      const start = kept.clock.now();
      const send = () =>
        kept.call("PATCH", "/inventory/1", {
          key,
          body: '{"quantity":4}',
          headers: { "Idempotency-Key": "week" },
        });
      await send();
      kept.clock.set(start + days * dayMs);
      expect(isReplayed(await send())).toBe(true);
      kept.clock.set(start + days * dayMs + 1);
      expect(isReplayed(await send())).toBe(false);
    };
    await expectKept(service(), 7);
    await withService(engine, { "idempotency-days": "2" }, (kept) => expectKept(kept, 2));
  });
});
