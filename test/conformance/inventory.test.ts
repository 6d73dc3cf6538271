import { beforeAll, expect, test } from "bun:test";
import { petStatuses } from "../../src/domain/ledger/inventory.ts";
import { int64Max, int64Min } from "../../src/domain/values/int64.ts";
import { onEveryEngine } from "../support/conformance.ts";
import {
  expectCommonHeaders,
  expectError,
  expectUnchanged,
  limitsOf,
} from "../support/responses.ts";

onEveryEngine("the inventory", (service) => {
  let key: string;
  beforeAll(async () => {
    key = (await service().issueKey()).text;
  });
  const patch = (key: string, petId: bigint, body: BodyInit) =>
    service().call("PATCH", `/inventory/${petId}`, { key, body });
  const list = async (key: string) =>
    (await service().call("GET", "/inventory", { key })).json as Record<string, unknown>[];

  test("[list.1] the list is a JSON array with one entry for every pet", async () => {
    expect(await list(key)).toEqual([]);
    await service().addPets({ petId: 3n }, { petId: 1n, quantity: 7 }, { petId: 2n });
    const response = await service().call("GET", "/inventory", { key });
    expect(response.status).toBe(200);
    expect((response.json as { petId: number }[]).map((item) => item.petId)).toEqual([1, 2, 3]);
    expectCommonHeaders(response);
  });

  test("[list.2] the list takes no parameters: a query string has no effect", async () => {
    const plain = await service().call("GET", "/inventory", { key });
    const asked = await service().call("GET", "/inventory?limit=1&status=sold&petId=x", { key });
    expect(asked.status).toBe(200);
    expect(asked.text).toBe(plain.text);
  });

  test("[list.3] without a valid key the list returns 401 with an Error", async () => {
    expectError(await service().call("GET", "/inventory"), "unauthorized");
  });

  test("[records.1] an entry has exactly petId, quantity and status", async () => {
    await service().addPets({ petId: 11n, quantity: 2, status: "pending" });
    const item = (await list(key)).find((one) => one.petId === 11);
    expect(item).toEqual({ petId: 11, quantity: 2, status: "pending" });
  });

  test("[records.2] a status is available, pending or sold, and nothing else", async () => {
    expect([...petStatuses]).toEqual(["available", "pending", "sold"]);
    const pets = petStatuses.map((status, at) => ({ petId: BigInt(20 + at), status }));
    await service().addPets(...pets);
    const shown = (await list(key)).filter(({ petId }) => Number(petId) >= 20);
    expect(shown.map(({ status }) => status)).toEqual([...petStatuses]);
    const wrong = { petId: 24n, status: "lost" as "sold" };
    await expectUnchanged(service().store, () =>
      service()
        .addPets(wrong)
        .catch(() => {}),
    );
  });

  test("[records.3] an update requires the integer field quantity", async () => {
    await service().addPets({ petId: 30n, quantity: 1 });
    expectError(await patch(key, 30n, "{}"), "invalid_request");
    expectError(await patch(key, 30n, '{"quantity":"5"}'), "invalid_request");
    expect((await patch(key, 30n, '{"quantity":5}')).status).toBe(200);
  });

  test("[service.1] the list shows current stock: an acknowledged update is in the next list", async () => {
    await service().addPets({ petId: 40n, quantity: 1 });
    for (let quantity = 0; quantity < 20; quantity++) {
      expect((await patch(key, 40n, JSON.stringify({ quantity }))).status).toBe(200);
      const item = (await list(key)).find(({ petId }) => petId === 40);
      expect(item?.quantity).toBe(quantity);
    }
  });

  test("[service.2] an update sets the stock of one pet and of no other", async () => {
    await service().addPets({ petId: 50n, quantity: 1 }, { petId: 51n, quantity: 2 });
    const before = await list(key);
    await patch(key, 50n, '{"quantity":99}');
    const after = await list(key);
    const expected = before.map((item) => (item.petId === 50 ? { ...item, quantity: 99 } : item));
    expect(after).toEqual(expected);
  });

  test("[open.order] the list is sorted by ascending petId, negative ids first", async () => {
    const ids = [5n, -5n, int64Max, int64Min, 0n, 1_000n];
    await service().addPets(...ids.map((petId) => ({ petId })));
    const { text } = await service().call("GET", "/inventory", { key });
    const shown = [...text.matchAll(/"petId":(-?\d+)/g)].map((match) => BigInt(match[1]!));
    const sorted = [...shown].sort((one, other) => (one < other ? -1 : 1));
    expect(shown).toEqual(sorted);
    for (const id of ids) expect(shown).toContain(id);
  });

  test("[states.1] an operator may change any status to any other, each change a ledger row", async () => {
    await service().addPets({ petId: 60n, quantity: 3 });
    const changes = [];
    // Each pair of two statuses, in both orders, follows one another here.
    for (const to of ["pending", "available", "sold", "pending", "sold", "available"] as const) {
      await service().addPets({ petId: 60n, status: to });
      const item = (await list(key)).find(({ petId }) => petId === 60);
      expect(item).toEqual({ petId: 60, quantity: 3, status: to });
      const { seq } = await service().store.inventory.readHead();
      const [row] = await service().store.inventory.ledgerAfter(seq - 1, 1);
      expect(row?.after?.status).toBe(to);
      changes.push(`${row?.before?.status} ${to}`);
    }
    const pairs = petStatuses.flatMap((from) => petStatuses.map((to) => [from, to]));
    const others = pairs.filter(([from, to]) => from !== to).map((pair) => pair.join(" "));
    expect(changes.sort()).toEqual(others.sort());
  });

  test("[open.not-modified] a current ETag gets 304 until the next change, and counts as a request", async () => {
    const limits = { perMinute: 100, perDay: 100 };
    const { text: key } = await service().issueKey({ plan: "enterprise", limits });
    await service().addPets({ petId: 70n, quantity: 1 });
    const ask = (tag: string) =>
      service().call("GET", "/inventory", { key, headers: { "If-None-Match": tag } });
    const first = await service().call("GET", "/inventory", { key });
    const tag = first.headers.get("ETag")!;
    expect(tag).toMatch(/^"[^"]+"$/);
    for (const sent of [tag, `"other", W/${tag}`, "*"]) {
      const same = await ask(sent);
      expect(same.status).toBe(304);
      expect(same.text).toBe("");
      expectCommonHeaders(same);
    }
    expect(limitsOf(await ask(tag)).remaining).toBe(95);
    // An update to the same quantity is a change too: it confirms a count.
    expect((await patch(key, 70n, '{"quantity":1}')).status).toBe(200);
    const changed = await ask(tag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("ETag")).not.toBe(tag);
  });
});
