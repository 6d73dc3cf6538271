import { expect, test } from "bun:test";
import { onEngine } from "../support/conformance.ts";
import { expectCommonHeaders, expectError, expectUnchanged } from "../support/responses.ts";
import { surfaceEngine, type TestResponse } from "../support/service.ts";

const quantityMax = 9007199254740991;

interface Versioned {
  readonly petId: number;
  readonly quantity: number;
  readonly version: number;
}

onEngine(surfaceEngine, "a batch of changes", (service) => {
  const issue = async () => (await service().issueKey()).text;
  const post = (key: string, body: BodyInit, headers: Record<string, string> = {}) =>
    service().call("POST", "/changes", { key, body, headers });
  const apply = (key: string, ...changes: readonly string[]) =>
    post(key, `{"changes":[${changes.join()}]}`);
  const entriesOf = ({ json }: TestResponse) => (json as { entries: Versioned[] }).entries;
  const headSeq = async () => (await service().store.inventory.readHead()).seq;

  test("is stored in order with consecutive versions, and returns the entry after each change", async () => {
    const key = await service().issueKey();
    await service().addPets({ petId: 1n, quantity: 5 }, { petId: 2n, status: "sold" });
    const before = await headSeq();
    const response = await apply(
      key.text,
      '{"petId":1,"delta":-2,"reason":"Sold"}',
      '{"petId":2,"quantity":7}',
      '{"petId":1,"delta":10.0}',
      `{"petId":2,"delta":-7e0,"expectedVersion":${before + 2}}`,
    );
    expect(response.status).toBe(200);
    expect(response.text).toBe(
      `{"entries":[${[
        `{"petId":1,"quantity":3,"status":"available","version":${before + 1}}`,
        `{"petId":2,"quantity":7,"status":"sold","version":${before + 2}}`,
        `{"petId":1,"quantity":13,"status":"available","version":${before + 3}}`,
        `{"petId":2,"quantity":0,"status":"sold","version":${before + 4}}`,
      ].join()}]}`,
    );
    expect(response.headers.get("ETag")).toBeNull();
    expect(response.headers.get("X-Stability")).toBe("beta");
    expectCommonHeaders(response);
    const rows = await service().store.inventory.ledgerAfter(before, 10);
    expect(rows.map(({ reason }) => reason)).toEqual(["Sold", null, null, null]);
    const requestId = response.headers.get("X-Request-Id");
    for (const row of rows) {
      expect([row.cause, row.keyId, row.requestId]).toEqual(["api", key.id, requestId]);
    }
    const list = await service().call("GET", "/inventory", { key: key.text });
    expect(list.text).toContain('{"petId":1,"quantity":13,');
    const entry = await service().call("GET", "/inventory/2", { key: key.text });
    expect(entry.headers.get("ETag")).toEndWith(`-${before + 4}"`);
  });

  test("has 1 to 1,000 changes and counts as one request", async () => {
    const key = await issue();
    await service().addPets(...Array.from({ length: 500 }, (_, at) => ({ petId: BigInt(at) })));
    const before = await headSeq();
    const changes = Array.from({ length: 1_001 }, (_, at) => `{"petId":${at % 500},"delta":1}`);
    const left = ({ headers }: TestResponse) => Number(headers.get("X-RateLimit-Remaining"));
    const probe = await service().call("GET", "/inventory/1", { key });
    const response = await apply(key, ...changes.slice(0, 1_000));
    expect(response.status).toBe(200);
    expect(left(response)).toBe(left(probe) - 1);
    const versions = entriesOf(response).map(({ version }) => version);
    expect(versions).toEqual(changes.slice(0, 1_000).map((_, at) => before + 1 + at));
    await expectUnchanged(service().store, async () => {
      for (const wrong of [[], changes]) {
        const rejected = await apply(key, ...wrong);
        expectError(rejected, "invalid_request");
        expect(rejected.text).toContain("an array of 1 to 1000 changes");
      }
    });
  });

  test("is stored whole or not at all; the error names index, pet and rule", async () => {
    const key = await issue();
    await service().addPets({ petId: 11n, quantity: 5 }, { petId: 12n, quantity: quantityMax });
    const version = await headSeq();
    const good = '{"petId":11,"quantity":1}';
    const wrong = [
      ["not_found", '{"petId":90404,"delta":1}', "(pet 90404): No pet with this petId"],
      ["insufficient_stock", '{"petId":11,"delta":-2}', "(pet 11): A delta of -2 would make the"],
      ["insufficient_stock", '{"petId":12,"delta":1}', "(pet 12): A delta of 1 would make the"],
      ["insufficient_stock", `{"petId":12,"delta":${quantityMax}}`, "larger than 9007199254740991"],
      ["insufficient_stock", `{"petId":11,"delta":-${quantityMax}}`, "negative. The stored"],
      [
        "version_conflict",
        '{"petId":12,"delta":0,"expectedVersion":1}',
        `(pet 12): The version is ${version}, not 1. The stored quantity is ${quantityMax}.`,
      ],
      [
        "version_conflict",
        `{"petId":11,"delta":0,"expectedVersion":${version - 1}}`,
        "(pet 11): An earlier change in this request changes the entry",
      ],
      [
        "not_found",
        '{"petId":90404,"delta":1,"expectedVersion":1}',
        "(pet 90404): No pet with this",
      ],
    ] as const;
    await expectUnchanged(service().store, async () => {
      for (const [code, change, message] of wrong) {
        for (const index of [1, 3]) {
          const before = Array.from({ length: index }, () => good);
          const response = await apply(key, ...before, change, good);
          expectError(response, code, 1);
          expect(response.text).toContain(`Change ${index} `);
          expect(response.text).toContain(message);
        }
      }
    });
  });

  test("checks every field of a change by its digits as written", async () => {
    const key = await issue();
    await service().addPets({ petId: 21n, quantity: 5 });
    const wrong = {
      '{"quantity":1}': "Change 1: Field 'petId' is required",
      '{"petId":"21","quantity":1}': "Change 1: Field 'petId'",
      '{"petId":9223372036854775808,"delta":1}': "Change 1: Field 'petId'",
      '{"petId":-9223372036854775809,"delta":1}': "Change 1: Field 'petId'",
      '{"petId":21.5,"delta":1}': "Change 1: Field 'petId'",
      '{"petId":null,"delta":1}': "Change 1: Field 'petId'",
      '{"petId":21}': "Change 1 (pet 21): Exactly one of the fields 'quantity' and 'delta'",
      '{"petId":21,"quantity":1,"delta":1}': "Change 1 (pet 21): Exactly one of the fields",
      '{"petId":21,"quantity":-1}': "Change 1 (pet 21): Field 'quantity' must be an integer",
      '{"petId":21,"quantity":9007199254740992}': "Field 'quantity'",
      '{"petId":21,"quantity":5.0000000000000000001}': "Field 'quantity'",
      '{"petId":21,"quantity":null}': "Field 'quantity'",
      '{"petId":21,"delta":9007199254740992}': "Change 1 (pet 21): Field 'delta' must be an",
      '{"petId":21,"delta":-9007199254740992}': "Field 'delta'",
      '{"petId":21,"delta":"1"}': "Field 'delta'",
      '{"petId":21,"delta":0.5}': "Field 'delta'",
      '{"petId":21,"delta":1,"expectedVersion":0}': "Change 1 (pet 21): Field 'expectedVersion'",
      '{"petId":21,"delta":1,"expectedVersion":"5"}': "Field 'expectedVersion'",
      '{"petId":21,"delta":1,"expectedVersion":1e300}': "Field 'expectedVersion'",
      "5": "Change 1 must be a JSON object",
      null: "Change 1 must be a JSON object",
      "[]": "Change 1 must be a JSON object",
      '"x"': "Change 1 must be a JSON object",
    };
    await expectUnchanged(service().store, async () => {
      for (const [change, message] of Object.entries(wrong)) {
        const response = await apply(key, '{"petId":21,"delta":1}', change);
        expectError(response, "invalid_request");
        expect(response.text).toContain(message);
      }
    });
  });

  test("takes exact 64-bit ids, and every notation of a name", async () => {
    const key = await issue();
    for (const petId of [9223372036854775807n, -9223372036854775808n, 9007199254740993n]) {
      await service().addPets({ petId, quantity: 0 });
      const response = await apply(key, `{"petId":${petId},"delta":1}`);
      expect(response.text).toStartWith(`{"entries":[{"petId":${petId},"quantity":1,`);
    }
    await service().addPets({ petId: 31n, quantity: 0 });
    const unusual = [
      '{"petId":31,"delta":2}',
      '{"pet\\u0049d":31,"\\u0064elta":3}',
      ' { "petId" : 31 , "delta" : -0 , "reason" : "}],[{\\\\" } ',
      '{"petId":3.1e1,"quantity":40e-1}',
    ];
    const response = await post(key, `\n{"chang\\u0065s":\t[${unusual.join()}] } `);
    expect(entriesOf(response).map(({ quantity }) => quantity)).toEqual([2, 5, 5, 4]);
    expect((await apply(key, `{"petId":31,"quantity":${quantityMax}}`)).status).toBe(200);
    const down = await apply(key, `{"petId":31,"delta":-${quantityMax}}`);
    expect(entriesOf(down)[0]!.quantity).toBe(0);
    const up = await apply(key, `{"petId":31,"delta":${quantityMax}}`);
    expect(entriesOf(up)[0]!.quantity).toBe(quantityMax);
  });

  test("is JSON of at most 256 KiB; each error has its status", async () => {
    const key = await issue();
    await service().addPets({ petId: 41n });
    const body = '{"changes":[{"petId":41,"delta":1}]}';
    for (const type of ["application/json", "application/json; charset=utf-8"]) {
      expect((await post(key, body, { "Content-Type": type })).status).toBe(200);
    }
    expect((await post(key, new TextEncoder().encode(body))).status).toBe(200);
    expect((await post(key, body.padEnd(262_144))).status).toBe(200);
    await expectUnchanged(service().store, async () => {
      for (const type of ["text/plain", "application/merge-patch+json"]) {
        const response = await post(key, body, { "Content-Type": type });
        expectError(response, "unsupported_media_type");
        expect(response.headers.get("Accept-Post")).toBe("application/json");
      }
      expectError(await post(key, body.padEnd(262_145)), "payload_too_large");
      expectError(await post(key, body.padEnd(257 * 1024)), "payload_too_large");
      const broken = ["", "{", `${body}}`, "[]", "4", "null", "{}", '{"changes":null}', "\u00a0{}"];
      const odd = [
        '{"changes":{"0":{"petId":41,"delta":1}}}',
        '{"changes":"[]"}',
        body.slice(0, -1),
      ];
      const deep = `{"changes":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
      for (const wrong of [...broken, ...odd, deep]) {
        expectError(await post(key, wrong), "invalid_request");
      }
    });
  });

  test("with a header that would protect or explain one update gets 400 and is not stored", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 5 });
    const body = '{"changes":[{"petId":1,"delta":1}]}';
    for (const [name, value, field] of [
      ["If-Match", '"other"', "expectedVersion"],
      ["X-Change-Reason", "Sold", "reason"],
    ] as const) {
      await expectUnchanged(service().store, async () => {
        const response = await post(key, body, { [name]: value });
        expectError(response, "invalid_request");
        expect(response.text).toContain(name);
        expect(response.text).toContain(`'${field}'`);
      });
    }
    expect((await post(key, body, { "If-Match": "*" })).status).toBe(200);
  });

  test("needs the scope inventory:write", async () => {
    const reader = (await service().issueKey({ scopes: ["inventory:read"] })).text;
    const ask = () => apply(reader, '{"petId":1,"delta":1}');
    expectError(await expectUnchanged(service().store, ask), "insufficient_scope");
  });

  test("adds up deltas of many clients exactly", async () => {
    const key = await issue();
    await service().addPets({ petId: 51n, quantity: 100 });
    const sell = () => apply(key, '{"petId":51,"delta":-3}');
    const responses = await Promise.all(Array.from({ length: 50 }, sell));
    const sold = responses.filter(({ status }) => status === 200);
    expect(sold).toHaveLength(33);
    for (const response of responses) {
      if (response.status !== 200) expectError(response, "insufficient_stock", 1);
    }
    const { json } = await service().call("GET", "/inventory/51", { key });
    expect((json as { quantity: number }).quantity).toBe(1);
  });
});
