import { expect, test } from "bun:test";
import type { OrderRecord } from "../../src/domain/catalogue/orders.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { expectCommonHeaders, expectError, expectUnchanged } from "../support/responses.ts";

function order(id: bigint, rest: Partial<OrderRecord> = {}): OrderRecord {
  const plain = { petId: 1n, quantity: 1, shipDate: null, complete: false } as const;
  return { line: 1, id, ...plain, status: "placed", ...rest };
}

onEveryEngine("orders", (service) => {
  const ask = (query: string, key: string) =>
    service().call("GET", `/store/orders${query}`, { key });
  const idsOf = (text: string) => [...text.matchAll(/"id":(-?\d+)/g)].map(([, id]) => BigInt(id!));

  test("[others.2] GET /store/orders returns an array", async () => {
    const { text: key } = await service().issueKey();
    const response = await ask("", key);
    expect(response.status).toBe(200);
    expect(response.json).toEqual([]);
    expectCommonHeaders(response);
  });

  test("[open.orders] orders come by descending id, with six fields and exact ids", async () => {
    const { text: key } = await service().issueKey();
    await service().addOrders(
      order(5n, { shipDate: Date.UTC(2026, 4, 1, 12), status: "delivered", complete: true }),
      order(9223372036854775807n, { petId: -9223372036854775808n, status: "approved" }),
    );
    expect((await ask("", key)).text).toBe(
      '[{"id":9223372036854775807,"petId":-9223372036854775808,"quantity":1,"shipDate":null,' +
        '"status":"approved","complete":false},{"id":5,"petId":1,"quantity":1,' +
        '"shipDate":"2026-05-01T12:00:00.000Z","status":"delivered","complete":true}]',
    );
  });

  test("[open.order-pages] limit and after select a page, and Link has the next one", async () => {
    const { text: key } = await service().issueKey();
    const many = Array.from({ length: 1_005 }, (_, at) => order(BigInt(at - 500)));
    await service().addOrders(...many);
    expect(idsOf((await ask("", key)).text)).toHaveLength(100);
    expect(idsOf((await ask("?limit=1000", key)).text)).toHaveLength(1_000);
    const seen: bigint[] = [];
    let path: string | undefined = "~/v1/store/orders?limit=333";
    let pages = 0;
    while (path !== undefined) {
      const response = await service().call("GET", path, { key });
      expect(response.status).toBe(200);
      seen.push(...idsOf(response.text));
      const next = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("Link") ?? "");
      path = next ? `~${next[1]}` : undefined;
      pages += 1;
    }
    expect(pages).toBe(4);
    const expected = [9223372036854775807n, ...many.map(({ id }) => id).reverse()];
    expect(seen).toEqual(expected);
    expect(idsOf((await ask("?after=-9223372036854775808", key)).text)).toEqual([]);
    const wrong = ["limit=0", "limit=1001", "limit=-1", "limit=1.0", "limit=", "limit=ten"];
    const also = ["after=", "after=x", "after=9223372036854775808", "after=1&after=2"];
    for (const query of [...wrong, ...also]) {
      expectError(await ask(`?${query}`, key), "invalid_request");
    }
  });

  test("[open.orders-stock] orders do not change stock", async () => {
    await service().addPets({ petId: 1n, quantity: 5 });
    const { seq } = await service().store.inventory.readHead();
    await service().addOrders(order(5_000n, { petId: 1n, quantity: 5, status: "delivered" }));
    expect((await service().store.inventory.readHead()).seq).toBe(seq);
  });

  test("[open.orders-import] an import of orders is all or nothing", async () => {
    const twice = [order(6_000n), order(6_001n), order(6_000n)];
    await expectUnchanged(service().store, async () => {
      await expect(service().addOrders(...twice)).rejects.toThrow("must be unique");
    });
  });
});
