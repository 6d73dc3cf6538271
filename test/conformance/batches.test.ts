import { expect, test } from "bun:test";
import { quantityMax } from "../../src/domain/ledger/inventory.ts";
import { onEveryEngine } from "../support/conformance.ts";
import { expectError, expectUnchanged, limitsOf } from "../support/responses.ts";
import type { TestResponse } from "../support/service.ts";

const quantityOf = ({ json }: TestResponse) => (json as { quantity: number }).quantity;
const messageOf = ({ json }: TestResponse) => (json as { message: string }).message;

onEveryEngine("batches and reasons", (service) => {
  const issue = async () => (await service().issueKey()).text;
  const read = (key: string) => service().call("GET", "/inventory/1", { key });
  const update = (key: string, quantity: number, headers: Record<string, string>) =>
    service().call("PATCH", "/inventory/1", { key, headers, body: `{"quantity":${quantity}}` });
  const apply = (key: string, changes: string, headers: Record<string, string> = {}) =>
    service().call("POST", "/changes", { key, headers, body: `{"changes":[${changes}]}` });
  const head = async () => (await service().store.inventory.readHead()).seq;
  const lastReason = async () =>
    (await service().store.inventory.ledgerAfter((await head()) - 1, 1))[0]!.reason;

  test("[safe.batch] POST /changes applies its changes in order and together, with consecutive versions", async () => {
    const key = await issue();
    await service().addPets(
      { petId: 1n, quantity: 5, status: "pending" },
      { petId: 2n, status: "sold" },
    );
    const before = await head();
    const response = await apply(
      key,
      `{"petId":1,"delta":-2},{"petId":2,"quantity":7},{"petId":1,"delta":4,"expectedVersion":${before + 1}}`,
    );
    expect(response.json).toEqual({
      entries: [
        { petId: 1, quantity: 3, status: "pending", version: before + 1 },
        { petId: 2, quantity: 7, status: "sold", version: before + 2 },
        { petId: 1, quantity: 7, status: "pending", version: before + 3 },
      ],
    });
    expect(await head()).toBe(before + 3);
  });

  test("[safe.all-or-nothing] one change that breaks a rule rejects the batch; the message names index, pet and rule", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 5 }, { petId: 2n, quantity: 5 });
    const version = await head();
    const max = Number.MAX_SAFE_INTEGER;
    const broken = [
      ['{"petId":2,"delta":-6}', "insufficient_stock", "(pet 2)"],
      [`{"petId":2,"delta":${max}}`, "insufficient_stock", "(pet 2)"],
      ['{"petId":404,"delta":1}', "not_found", "(pet 404)"],
      [`{"petId":1,"delta":1,"expectedVersion":${version - 1}}`, "version_conflict", "(pet 1)"],
      ['{"petId":2}', "invalid_request", "(pet 2)"],
      ['{"petId":2,"quantity":1,"delta":1}', "invalid_request", "(pet 2)"],
      ['{"petId":2,"quantity":1.5}', "invalid_request", "(pet 2)"],
      ['{"petId":"2","quantity":1}', "invalid_request", ""],
    ] as const;
    await expectUnchanged(service().store, async () => {
      for (const [change, code, pet] of broken) {
        const response = await apply(key, `{"petId":1,"delta":1},${change}`);
        expectError(response, code, code === "invalid_request" ? 0 : 1);
        expect(messageOf(response)).toStartWith(`Change 1${pet === "" ? "" : ` ${pet}`}: `);
      }
    });
  });

  test("[safe.failed-lines] the error of a batch names every change that breaks a rule, as if the others that do were not there", async () => {
    const key = await issue();
    const large = 2n ** 63n - 1n;
    await service().addPets(
      ...[1n, 2n, large].map((petId) => ({ petId, quantity: petId === 2n ? quantityMax : 5 })),
    );
    const version = await head();
    const [take, none] = ['{"petId":1,"delta":-3}', '{"petId":404,"delta":1}'];
    const changes = [
      ...[take, '{"petId":1,"delta":-9}', take, none],
      ...['{"petId":2,"delta":1}', `{"petId":${large},"delta":-6}`, '{"petId":1,"delta":-2}'],
      ...[`{"petId":${large},"delta":1,"expectedVersion":${version - 1}}`, none],
      `{"petId":2,"quantity":0,"expectedVersion":${version - 1}}`,
    ];
    const idempotency = { "Idempotency-Key": "failed-lines" };
    const refused = await expectUnchanged(service().store, () =>
      apply(key, changes.join(), idempotency),
    );
    expectError(refused, "insufficient_stock", 7);
    expect(messageOf(refused)).toStartWith("Change 1 (pet 1): A delta of -9 would");
    const lines = [
      '{"index":1,"petId":1,"code":"insufficient_stock","requested":9,"available":2}',
      '{"index":2,"petId":1,"code":"insufficient_stock","requested":3,"available":2}',
      '{"index":3,"petId":404,"code":"not_found"}',
      '{"index":4,"petId":2,"code":"insufficient_stock"}',
      `{"index":5,"petId":${large},"code":"insufficient_stock","requested":6,"available":5}`,
      `{"index":7,"petId":${large},"code":"version_conflict"}`,
      '{"index":8,"petId":404,"code":"not_found"}',
    ];
    expect(refused.text).toEndWith(`"details":[${lines.join()}]}`);
    // The others are the batch that fits.
    const failed = new Set([1, 2, 3, 4, 5, 7, 8]);
    const rest = changes.filter((_, index) => !failed.has(index));
    expect((await apply(key, rest.join(), idempotency)).status).toBe(200);
    const many = await apply(key, Array.from({ length: 1_000 }, () => none).join());
    expectError(many, "not_found", 100);
    expect(many.text).toContain('{"index":99,"petId":404,"code":"not_found"}]}');
    const reused = await apply(key, take, idempotency);
    expectError(reused, "idempotency_key_reused");
  });

  test("[safe.dry-run] with dryRun, a batch is checked by the same rules, says what it would do, and stores nothing", async () => {
    const key = await issue();
    const stored = { status: "available" } as const;
    await service().addPets(...[1n, 2n].map((petId) => ({ petId, quantity: 5, ...stored })));
    const version = await head();
    const dryRun = (changes: string, headers: Record<string, string> = {}) =>
      service().call("POST", "/changes", {
        ...{ key, headers, body: `{"dryRun":true,"changes":[${changes}]}` },
      });
    const changes = '{"petId":1,"delta":-5},{"petId":2,"quantity":9},{"petId":1,"delta":3}';
    const idempotency = { "Idempotency-Key": '"dry"' };
    await expectUnchanged(service().store, async () => {
      // Together with updates of the same pets, so that they may share a transaction.
      const answers = await Promise.all([
        dryRun(changes, idempotency),
        dryRun('{"petId":1,"quantity":1}'),
        dryRun('{"petId":1,"delta":-6}'),
        dryRun('{"petId":404,"delta":1}'),
        dryRun(`{"petId":2,"delta":1},{"petId":2,"delta":1,"expectedVersion":${version}}`),
      ]);
      expect(answers[0]!.json).toEqual({
        dryRun: true,
        entries: [
          {
            petId: 1,
            quantity: 0,
            version: version - 1,
            before: { quantity: 5, ...stored },
            ...stored,
          },
          { petId: 2, quantity: 9, version, before: { quantity: 5, ...stored }, ...stored },
          {
            petId: 1,
            quantity: 3,
            version: version - 1,
            before: { quantity: 0, ...stored },
            ...stored,
          },
        ],
      });
      expect(answers[1]!.json).toMatchObject({
        entries: [{ quantity: 1, before: { quantity: 5 } }],
      });
      expectError(answers[2]!, "insufficient_stock", 1);
      expectError(answers[3]!, "not_found", 1);
      expectError(answers[4]!, "version_conflict", 1);
    });
    // The key was not used yet, and the next request with it finds nothing to repeat.
    const applied = await apply(key, changes, idempotency);
    expect(applied.headers.has("Idempotent-Replayed")).toBe(false);
    expect(await head()).toBe(version + 3);
    expect((await dryRun('{"petId":1,"delta":1}', idempotency)).json).toMatchObject({
      dryRun: true,
    });
    const both = await Promise.all([
      apply(key, '{"petId":1,"delta":1}'),
      dryRun('{"petId":1,"delta":1}'),
    ]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    // Alone in its transaction, it looks like a plain update.
    expect((await dryRun('{"petId":1,"quantity":1}')).json).toMatchObject({ dryRun: true });
    expect(quantityOf(await read(key))).toBe(4);
  });

  test("[safe.batch-headers] a batch with If-Match or X-Change-Reason gets 400, because its changes have fields for both", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const change = '{"petId":1,"delta":1}';
    await expectUnchanged(service().store, async () => {
      for (const [name, field] of [
        ["If-Match", "expectedVersion"],
        ["X-Change-Reason", "reason"],
      ] as const) {
        const response = await apply(key, change, { [name]: '"x"' });
        expectError(response, "invalid_request");
        expect(messageOf(response)).toContain(`'${name}'`);
        expect(messageOf(response)).toContain(`'${field}'`);
      }
    });
    expect((await apply(key, change, { "If-Match": "*" })).status).toBe(200);
  });

  test("[safe.batch-size] a batch has 1 to 1,000 changes in at most 256 KiB, and counts as one request", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 0 });
    const many = (count: number) => Array(count).fill('{"petId":1,"delta":1}').join();
    const before = limitsOf(await read(key)).remaining;
    const largest = await apply(key, many(1_000));
    expect(largest.status).toBe(200);
    expect(limitsOf(largest).remaining).toBe(before - 1);
    await expectUnchanged(service().store, async () => {
      for (const changes of ["", many(1_001)]) {
        expectError(await apply(key, changes), "invalid_request");
      }
      const padded = `{"petId":1,"delta":1}${" ".repeat(262_144)}`;
      expectError(await apply(key, padded), "payload_too_large");
    });
    const longest = '{"petId":1,"delta":1}'.padEnd(262_144 - '{"changes":[]}'.length);
    expect((await apply(key, longest)).status).toBe(200);
    expect(quantityOf(await read(key))).toBe(1_001);
  });

  test("[safe.delta] deltas that arrive at the same moment add up, and never go below zero", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 30 });
    const sales = await Promise.all(
      Array.from({ length: 50 }, () => apply(key, '{"petId":1,"delta":-1}')),
    );
    const statuses = sales.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect(statuses.filter((status) => status === 409)).toHaveLength(20);
    expect(quantityOf(await read(key))).toBe(0);
  });

  test("[safe.reason] a reason is stored with the change: X-Change-Reason of an update, reason in a batch", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const sent = {
      "Delivery 4711": "Delivery 4711",
      "Gr%C3%BC%C3%9Fe%20%F0%9F%90%A2": "Grüße 🐢",
      "100%25": "100%",
      "": null,
    };
    for (const [header, reason] of Object.entries(sent)) {
      expect((await update(key, 1, { "X-Change-Reason": header })).status).toBe(200);
      expect(await lastReason()).toBe(reason);
    }
    await apply(key, `{"petId":1,"delta":1,"reason":${JSON.stringify("Grüße 🐢")}}`);
    expect(await lastReason()).toBe("Grüße 🐢");
  });

  test("[safe.reason-rules] a reason has at most 200 characters and no control characters", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n });
    const longest = "🐢".repeat(200);
    expect((await update(key, 1, { "X-Change-Reason": encodeURIComponent(longest) })).status).toBe(
      200,
    );
    expect(await lastReason()).toBe(longest);
    await expectUnchanged(service().store, async () => {
      for (const reason of [`${longest}x`, "a\nb", "\u0000", "\u0085"]) {
        const headers = { "X-Change-Reason": encodeURIComponent(reason) };
        expectError(await update(key, 1, headers), "invalid_request");
        const change = `{"petId":1,"delta":1,"reason":${JSON.stringify(reason)}}`;
        expectError(await apply(key, change), "invalid_request");
      }
      for (const header of ["%", "%FF", "100% sure"]) {
        expectError(await update(key, 1, { "X-Change-Reason": header }), "invalid_request");
      }
    });
  });
});
