import { expect, test } from "bun:test";
import { onEveryEngine, withService } from "../support/conformance.ts";
import { expectCommonHeaders, expectError } from "../support/responses.ts";

const sunset = "Fri, 31 Dec 2027 00:00:00 GMT";

onEveryEngine("pets", (service, engine) => {
  const ask = (petId: bigint | string, key: string) =>
    service().call("GET", `/pets/${petId}`, { key });

  test("[others.1] GET /pets/{petId} returns one pet, or 404", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n, name: "Rex" });
    const response = await ask(1n, key);
    expect(response.status).toBe(200);
    expectCommonHeaders(response);
    expectError(await ask(2n, key), "not_found");
    expectError(await ask("rex", key), "invalid_request");
  });

  test("[open.pets] a pet is id, name, category, photoUrls, tags and its entry's status", async () => {
    const { text: key } = await service().issueKey();
    const petId = 9223372036854775807n;
    const pet = { petId, name: 'Zoë "Z"', category: "cats", tags: ["a", "b"], photoUrls: ["u"] };
    await service().addPets({ ...pet, status: "pending" }, { petId: 3n, name: "Bo" });
    expect((await ask(petId, key)).text).toBe(
      '{"id":9223372036854775807,"name":"Zoë \\"Z\\"","category":"cats","photoUrls":["u"],' +
        '"tags":["a","b"],"status":"pending"}',
    );
    const plain = { id: 3, name: "Bo", category: null, photoUrls: [], tags: [] };
    expect((await ask(3n, key)).json).toEqual({ ...plain, status: "available" });
    await service().addPets({ petId: 3n, name: undefined, status: "sold" });
    expect((await ask(3n, key)).json).toEqual({ ...plain, status: "sold" });
  });

  test("[versioning.3] every response of the pet operation marks it as deprecated", async () => {
    const { text: key } = await service().issueKey();
    const { text: narrow } = await service().issueKey({ scopes: ["orders:read"] });
    await service().addPets({ petId: 1n });
    const responses = [
      await ask(1n, key),
      await ask(404n, key),
      await ask("x", key),
      await ask(1n, "nonsense"),
      await ask(1n, narrow),
      await service().call("DELETE", "/pets/1", { key }),
      await service().call("HEAD", "/pets/1", { key }),
      await service().call("OPTIONS", "/pets/1"),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 404, 400, 401, 403, 405, 200, 204]);
    for (const { headers } of responses) {
      expect(headers.get("Deprecation")).toBe(`@${Date.UTC(2026, 0, 1) / 1_000}`);
      expect(headers.get("Sunset")).toBe(sunset);
      expect(headers.get("Link")).toContain('rel="deprecation"');
      expect(headers.get("Link")).toContain('rel="sunset"');
    }
    const { headers } = await service().call("GET", "/inventory", { key });
    expect(headers.has("Deprecation") || headers.has("Sunset")).toBe(false);
  });

  test("[open.sunset] from the sunset on it returns 410; the time is configurable", async () => {
    const flags = { "pets-sunset": "2026-11-15T12:30:00Z" };
    await withService(engine, flags, async (short) => {
      const { text: key } = await short.issueKey();
      await short.addPets({ petId: 1n });
      short.clock.set(Date.UTC(2026, 10, 15, 12, 30) - 1);
      expect((await short.call("GET", "/pets/1", { key })).status).toBe(200);
      short.clock.advance(1);
      for (const path of ["/pets/1", "/pets/404", "/pets/x"]) {
        const response = await short.call("GET", path, { key });
        expectError(response, "gone");
        expect(response.headers.get("Sunset")).toBe("Sun, 15 Nov 2026 12:30:00 GMT");
        expect(response.headers.get("Deprecation")).toStartWith("@");
      }
      expectError(await short.call("GET", "/pets/1"), "unauthorized");
      expect((await short.call("GET", "/inventory", { key })).status).toBe(200);
    });
  });
});
