import { expect, test } from "bun:test";
import { onEngine } from "../support/conformance.ts";
import { expectCommonHeaders, expectError } from "../support/responses.ts";
import { surfaceEngine } from "../support/service.ts";

onEngine(surfaceEngine, "one entry", (service) => {
  const issue = async () => (await service().issueKey()).text;
  const get = (key: string, path: string, headers: Record<string, string> = {}, method = "GET") =>
    service().call(method, path, { key, headers });

  test("is the entry of the list, with a strong ETag that changes with every update", async () => {
    const key = await issue();
    await service().addPets({ petId: 1n, quantity: 3, status: "pending" }, { petId: 2n });
    const first = await get(key, "/inventory/1");
    expect(first.status).toBe(200);
    expect(first.text).toBe('{"petId":1,"quantity":3,"status":"pending"}');
    expect(first.headers.get("ETag")).toMatch(/^"[!#-~]+-[1-9][0-9]*"$/);
    expect(first.headers.get("Cache-Control")).toBe("private, no-cache");
    expect(first.headers.get("X-Stability")).toBe("beta");
    expectCommonHeaders(first);
    const other = (await get(key, "/inventory/2")).headers.get("ETag");
    const updated = await service().call("PATCH", "/inventory/1", { key, body: '{"quantity":3}' });
    const second = await get(key, "/inventory/1");
    expect(updated.headers.get("ETag")).toBe(second.headers.get("ETag"));
    expect(second.headers.get("ETag")).not.toBe(first.headers.get("ETag"));
    expect((await get(key, "/inventory/2")).headers.get("ETag")).toBe(other);
  });

  test("gets 304 while it is unchanged, and 412 if it is not the one expected", async () => {
    const key = await issue();
    await service().addPets({ petId: 3n });
    const tag = (await get(key, "/inventory/3")).headers.get("ETag")!;
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const response = await get(key, "/inventory/3", { "If-None-Match": known }, method);
        expect([response.status, response.headers.get("ETag")]).toEqual([304, tag]);
        expect(response.headers.get("Cache-Control")).toBe("private, no-cache");
        expect(response.headers.get("Content-Type")).toBeNull();
      }
    }
    expect((await get(key, "/inventory/3", { "If-None-Match": '"other"' })).status).toBe(200);
    expect((await get(key, "/inventory/3", { "If-Match": tag })).status).toBe(200);
    for (const expected of ['"other"', `W/${tag}`]) {
      const response = await get(key, "/inventory/3", { "If-Match": expected });
      expectError(response, "precondition_failed");
      expect(response.headers.get("ETag")).toBe(tag);
    }
    await service().call("PATCH", "/inventory/3", { key, body: '{"quantity":9}' });
    expect((await get(key, "/inventory/3", { "If-None-Match": tag })).status).toBe(200);
  });

  test("has the same headers for HEAD, and exact ids at both ends of the range", async () => {
    const key = await issue();
    for (const petId of [9223372036854775807n, -9223372036854775808n, 9007199254740993n]) {
      await service().addPets({ petId, quantity: 1 });
      const body = `{"petId":${petId},"quantity":1,"status":"available"}`;
      const read = await get(key, `/inventory/${petId}`);
      expect(read.text).toBe(body);
      const head = await get(key, `/inventory/${petId}`, {}, "HEAD");
      expect([head.status, head.text]).toEqual([200, ""]);
      expect(head.headers.get("ETag")).toBe(read.headers.get("ETag"));
      expect(head.headers.get("Content-Length")).toBe(`${body.length}`);
    }
  });

  test("needs a valid id, a known pet and the scope inventory:read", async () => {
    const key = await issue();
    expectError(await get(key, "/inventory/404"), "not_found");
    expectError(await get(key, "/inventory/404", { "If-Match": '"x"' }), "not_found");
    expectError(await get(key, "/inventory/01"), "invalid_request");
    const writer = (await service().issueKey({ scopes: ["inventory:write"] })).text;
    expectError(await get(writer, "/inventory/1"), "insufficient_scope");
  });

  test("shows every update that was acknowledged before it was requested", async () => {
    const key = await issue();
    await service().addPets({ petId: 5n });
    for (let quantity = 0; quantity < 50; quantity++) {
      await service().call("PATCH", "/inventory/5", { key, body: `{"quantity":${quantity}}` });
      const { json } = await get(key, "/inventory/5");
      expect((json as { quantity: number }).quantity).toBe(quantity);
    }
  });

  test("keeps its ETag across a restart, and its update still matches it", async () => {
    const key = await issue();
    await service().addPets({ petId: 6n });
    const update = (headers: Record<string, string>) =>
      service().call("PATCH", "/inventory/6", { key, body: '{"quantity":1}', headers });
    const tag = (await update({})).headers.get("ETag")!;
    await service().restart();
    expect((await get(key, "/inventory/6")).headers.get("ETag")).toBe(tag);
    const matched = await update({ "If-Match": tag });
    expect(matched.status).toBe(200);
    expectError(await update({ "If-Match": tag }), "precondition_failed");
  });
});
