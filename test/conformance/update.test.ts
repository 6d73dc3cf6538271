import { beforeAll, expect, test } from "bun:test";
import { onEveryEngine } from "../support/conformance.ts";
import { expectCommonHeaders, expectError, expectUnchanged } from "../support/responses.ts";

onEveryEngine("the stock update", (service) => {
  let key: string;
  beforeAll(async () => {
    key = (await service().issueKey()).text;
  });
  const patch = (key: string, petId: bigint | string, body: BodyInit, type?: string) =>
    service().call("PATCH", `/inventory/${petId}`, {
      key,
      body,
      headers: type === undefined ? {} : { "Content-Type": type },
    });
  /** Expects an error for each of these updates, and that the store did not change. */
  const rejected = (...updates: readonly Readonly<Parameters<typeof patch>>[]) =>
    expectUnchanged(service().store, async () => {
      for (const update of updates) expectError(await patch(...update), "invalid_request");
    });

  test("[update.1] an update returns 200 with the updated entry", async () => {
    await service().addPets({ petId: 1n, quantity: 3, status: "sold" });
    const response = await patch(key, 1n, '{"quantity":8}', "application/json");
    expect(response.status).toBe(200);
    expect(response.json).toEqual({ petId: 1, quantity: 8, status: "sold" });
    expectCommonHeaders(response);
  });

  test("[update.2] the update is marked experimental", async () => {
    const response = await patch(key, 1n, '{"quantity":8}');
    expect(response.headers.get("X-Stability")).toBe("experimental");
  });

  test("[update.3] petId in the path is a 64-bit integer, exact at both ends", async () => {
    for (const petId of [9223372036854775807n, -9223372036854775808n, 9007199254740993n]) {
      await service().addPets({ petId });
      const response = await patch(key, petId, '{"quantity":6}');
      expect(response.text).toBe(`{"petId":${petId},"quantity":6,"status":"available"}`);
    }
  });

  test("[update.4] an update without a body gets 400", async () => {
    await rejected([key, 1n, ""], [key, 1n, "", "application/json"]);
  });

  test("[update.5] missing or invalid values get 400 with the name of the field", async () => {
    const wrong = ["{}", '{"count":1}', '{"quantity":null}', '{"quantity":1.5}'];
    await rejected(...wrong.map((body) => [key, 1n, body] as const));
    for (const body of wrong) {
      const { json } = await patch(key, 1n, body);
      expect((json as { message: string }).message).toContain("'quantity'");
    }
  });

  test("[update.6] without a valid key an update gets 401 and changes nothing", async () => {
    const ask = () => service().call("PATCH", "/inventory/1", { body: '{"quantity":1}' });
    expectError(await expectUnchanged(service().store, ask), "unauthorized");
  });

  test("[update.7] an unknown pet gets 404 and is not created", async () => {
    const ask = () => patch(key, 404n, '{"quantity":1}');
    expectError(await expectUnchanged(service().store, ask), "not_found");
  });

  test("[open.status] a stock update does not change the status", async () => {
    for (const status of ["available", "pending", "sold"] as const) {
      await service().addPets({ petId: 70n, status });
      for (const quantity of [0, 5]) {
        const { json } = await patch(key, 70n, JSON.stringify({ quantity }));
        expect(json).toEqual({ petId: 70, quantity, status });
      }
    }
  });

  test("[open.quantity] quantity is an integer from 0 to 2^53-1, checked by its digits as written", async () => {
    await service().addPets({ petId: 80n });
    const taken = {
      "0": 0,
      "-0": 0,
      "5.0": 5,
      "5e0": 5,
      "50e-1": 5,
      "0.5E+1": 5,
      "9007199254740991": 9007199254740991,
      "9007199254740991.000": 9007199254740991,
      "0e999999999999": 0,
    };
    for (const [written, quantity] of Object.entries(taken)) {
      const { text } = await patch(key, 80n, `{"quantity":${written}}`);
      expect(text).toBe(`{"petId":80,"quantity":${quantity},"status":"available"}`);
    }
    const wrong =
      '5.0000000000000000001 "5" true null 1.5 -1 1e300 9007199254740992 1e999999999 [] {}';
    const bodies = wrong.split(" ").map((written) => `{"quantity":${written}}`);
    await rejected(...bodies.map((body) => [key, 80n, body] as const));
  });

  test("[open.unknown-fields] unknown fields are ignored", async () => {
    await service().addPets({ petId: 90n });
    const body = '{"status":"sold","petId":1,"quantity":4,"note":{"quantity":"x"}}';
    const response = await patch(key, 90n, body);
    expect(response.json).toEqual({ petId: 90, quantity: 4, status: "available" });
  });

  test("[open.pet-id] any other format of an id in the path gets 400", async () => {
    const wrong = ["01", "+1", "-0", "1.0", "1e0", "0x1", "%201", "1%20", "a", "%D9%A1", "1,2"];
    const outside = ["9223372036854775808", "-9223372036854775809", "9".repeat(40)];
    const updates = [...wrong, ...outside].map((petId) => [key, petId, '{"quantity":1}'] as const);
    await rejected(...updates);
    const encoded = await patch(key, "%31", '{"quantity":2}');
    expect(encoded.json).toEqual({ petId: 1, quantity: 2, status: "sold" });
  });

  test("[open.body] a body is JSON or merge-patch of at most 64 KiB; each error has its status", async () => {
    const body = '{"quantity":4}';
    const types = ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"];
    for (const type of [...types, "application/merge-patch+json"]) {
      expect((await patch(key, 1n, body, type)).status).toBe(200);
    }
    await expectUnchanged(service().store, async () => {
      for (const type of ["text/plain", "application/json-patch+json", "application/jsonp"]) {
        const response = await patch(key, 1n, body, type);
        expectError(response, "unsupported_media_type");
        expect(response.headers.get("Accept-Patch")).toContain("application/merge-patch+json");
      }
    });
    const untyped = await patch(key, 1n, new TextEncoder().encode(body));
    expect(untyped.status).toBe(200);
    const broken = ["{", '{"quantity":4}}', "[4]", "4", '"4"', "null", "\u00a0{}"];
    const bodies = [...broken, `\u00a0${body}`, new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])];
    await rejected(...bodies.map((text) => [key, 1n, text] as const));
    expect((await patch(key, 1n, body.padEnd(65_536))).status).toBe(200);
    const large = () => patch(key, 1n, body.padEnd(65_537));
    expectError(await expectUnchanged(service().store, large), "payload_too_large");
    const repeated = await patch(key, 1n, '{"quantity":"x","quantity":1,"quantity":7}');
    expect((repeated.json as { quantity: number }).quantity).toBe(7);
  });
});
