import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { generateKeyText } from "../../src/domain/keys/keys.ts";
import { onEveryEngine, withService } from "../support/conformance.ts";
import { type ApiDocument, operationsOf } from "../support/contract/document.ts";
import { operations } from "../support/operations.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";

onEveryEngine("versions and environments", (service, engine) => {
  test("[service.3] both environments are served under /v1", async () => {
    expect(service().baseUrl).toEndWith("/v1");
    await withService(engine, { env: "staging" }, async (staging) => {
      expect(staging.baseUrl).toEndWith("/v1");
      const { text: key } = await staging.issueKey();
      expect((await staging.call("GET", "/inventory", { key })).status).toBe(200);
    });
  });

  test("[open.environments] an environment has its own keys and rejects the other's", async () => {
    const { text: live } = await service().issueKey();
    expect(live).toStartWith("psk_live_");
    await withService(engine, { env: "staging" }, async (staging) => {
      const { text: key } = await staging.issueKey();
      expect(key).toStartWith("psk_test_");
      expectError(await staging.call("GET", "/inventory", { key: live }), "unauthorized");
      expectError(await service().call("GET", "/inventory", { key }), "unauthorized");
      expectError(
        await staging.call("GET", "/inventory", { key: generateKeyText("production") }),
        "unauthorized",
      );
    });
  });

  test("[open.description] the description is served in OpenAPI 3.1 and 3.0, without a key", async () => {
    const served = { "~/openapi.json": "3.1.1", "~/openapi-3.0.json": "3.0.4" };
    for (const [path, version] of Object.entries(served)) {
      const response = await service().call("GET", path);
      expect(response.status).toBe(200);
      const api = response.json as ApiDocument;
      expect(api.openapi).toBe(version);
      expect(api.info.version).toBe("1.0.0");
      expect(
        operationsOf(api)
          .map(({ operation }) => operation.operationId)
          .sort(),
      ).toEqual(operations.map(({ id }) => id).sort());
    }
  });

  test("[open.additions] the description allows new fields and codes in responses", async () => {
    for (const path of ["~/openapi.json", "~/openapi-3.0.json"]) {
      const response = await service().call("GET", path);
      const { schemas } = (response.json as ApiDocument).components;
      const closed = Object.keys(schemas).filter(
        (name) => schemas[name]!.additionalProperties !== undefined,
      );
      // Bodies of requests.
      expect(closed).toEqual(["QuantityChange", "DeltaChange", "StockChanges"]);
      const { code } = schemas.Error!.properties!;
      expect([code!.type, code!.enum, code!.$ref]).toEqual(["string", undefined, undefined]);
    }
  });

  test("[versioning.1] the version is part of the path: other prefixes get 404", async () => {
    const { text: key } = await service().issueKey();
    for (const path of ["~/inventory", "~/v2/inventory", "~/V1/inventory", "~/v10/inventory"]) {
      const response = await service().call("GET", path, { key });
      expect(response.status).toBe(404);
      expect(Object.keys(response.json as object).sort()).toEqual(["code", "message", "status"]);
    }
  });

  test("[versioning.2] only unstable operations have a marker: experimental or beta", async () => {
    for (const { id, stability } of operations) {
      expect(["stable", "beta", "experimental"]).toContain(stability);
      if (id === "updateInventory") expect(stability).toBe("experimental");
      if (["listInventory", "getPet", "listOrders"].includes(id)) expect(stability).toBe("stable");
    }
  });

  test("[open.stability] X-Stability is on every response of an unstable operation, errors included", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n });
    const marker = async (method: string, path: string, body?: string, sent?: string) => {
      const options = { key: sent, ...(body === undefined ? {} : { body }) };
      return (await service().call(method, path, options)).headers.get("X-Stability");
    };
    expect(await marker("PATCH", "/inventory/1", '{"quantity":1}', key)).toBe("experimental");
    expect(await marker("PATCH", "/inventory/1", "{}", key)).toBe("experimental");
    expect(await marker("PATCH", "/inventory/1", "{}")).toBe("experimental");
    expect(await marker("GET", "/inventory", undefined, key)).toBeNull();
    expect(await marker("GET", "/pets/1", undefined, key)).toBeNull();
    expect(await marker("GET", "/store/orders", undefined, key)).toBeNull();
  });

  test("[endpoints.1] requests and responses are application/json", async () => {
    const { text: key } = await service().issueKey();
    await service().addPets({ petId: 1n });
    for (const path of ["/inventory", "/pets/1", "/store/orders", "/nothing"]) {
      const response = await service().call("GET", path, { key });
      expect(response.headers.get("Content-Type")).toBe("application/json");
      expect(response.json).toBeDefined();
    }
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const ask = () => service().call("PATCH", "/inventory/1", { key, headers, body: "quantity=1" });
    expectError(await expectUnchanged(service().store, ask), "unsupported_media_type");
  });

  test("[open.version] the API description has version 1.0.0, independent of the package version", async () => {
    const written = JSON.parse(readFileSync("openapi.json", "utf8")) as {
      info: { version: string };
    };
    expect(written.info.version).toBe("1.0.0");
    const served = await service().call("GET", "~/openapi.json");
    expect((served.json as typeof written).info.version).toBe("1.0.0");
  });
});
