import { describe, expect, test } from "bun:test";
import { committedDocument } from "../../src/api/contract/document.ts";
import { operations } from "../../src/api/operations.ts";
import { readConfig } from "../../src/config.ts";
import { errorCodes } from "../../src/domain/errors.ts";
import { startTestService } from "../service.ts";
import { validator } from "./answers.ts";
import { apiDocument, documentedOperations, documentText } from "./document.ts";

const { components } = apiDocument;

describe("openapi.json", () => {
  test("is what the table of operations makes", () => {
    expect(documentText).toBe(committedDocument(operations, readConfig({}, {}).petsSunsetAt));
  });

  test("has every operation of the table under its id, scope and markers, and no other", () => {
    expect(documentedOperations.map(({ operation }) => operation.operationId)).toEqual(
      operations.map(({ id }) => id),
    );
    for (const [at, { path, method, operation }] of documentedOperations.entries()) {
      const entry = operations[at]!;
      expect([method, path]).toEqual([entry.method, entry.path]);
      expect(operation["x-required-scope"]).toBe(entry.scope);
      expect(operation["x-stability"] ?? "stable").toBe(entry.stability);
      expect(operation.deprecated ?? false).toBe(entry.deprecatedAt !== undefined);
    }
  });

  test("leaves the addresses of both environments open", () => {
    expect(apiDocument.servers.map(({ url }) => url)).toEqual(["{base_url}", "{staging_url}"]);
    expect(apiDocument.info.version).toBe("1.0.0");
  });

  test("gives 64-bit integers their exact bounds", () => {
    const wide = documentText.match(/"format": "int64",\s+"minimum": -\d+,\s+"maximum": \d+/g)!;
    expect(wide.length).toBe(documentText.match(/"int64"/g)!.length);
    for (const text of wide) {
      expect(text).toMatch(/"minimum": -9223372036854775808,\s+"maximum": 9223372036854775807$/);
    }
  });

  test("documents the deprecation with its sunset", () => {
    const pet = apiDocument.paths["/pets/{petId}"]!.get!;
    expect(pet.deprecated).toBe(true);
    expect(pet["x-sunset"]).toBe("2027-12-31T00:00:00Z");
  });

  test("has only examples that its own schemas accept", () => {
    let examples = 0;
    for (const { path, method, operation } of documentedOperations) {
      const here = `#/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}`;
      for (const [status, response] of Object.entries(operation.responses)) {
        const place = `${here}/responses/${status}/content/application~1json`;
        const content = response.content?.["application/json"];
        for (const [name, { value }] of Object.entries(content?.examples ?? {})) {
          expect([name, validator(encodeURI(`${place}/schema`))(value)]).toEqual([name, true]);
          examples += 1;
        }
      }
    }
    for (const [name, header] of Object.entries(components.headers)) {
      const accepted = validator(`#/components/headers/${name}/schema`)(header.example);
      expect([name, accepted]).toEqual([name, true]);
    }
    expect(examples).toBeGreaterThan(30);
  });

  test("shows an example of every code that an operation can refuse with", () => {
    for (const { operation } of documentedOperations) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const { schema, examples } = content!["application/json"];
        const shown = Object.values(examples).map(({ value }) => (value as { code: string }).code);
        const allowed = JSON.stringify(schema).match(/"enum":(\[[^\]]+\])/)![1]!;
        expect([...new Set(shown)]).toEqual(JSON.parse(allowed));
      }
    }
  });

  test("names every error code there is, so that clients may switch over them", () => {
    expect((components.schemas.ErrorCode as { enum: string[] }).enum).toEqual([...errorCodes]);
  });
});

test("the served document needs no key, and has the address it was asked at", async () => {
  const service = await startTestService("sqlite", {
    env: "staging",
    "pets-sunset": "2029-01-01T00:00:00Z",
  });
  const answer = await service.call("GET", "~/openapi.json");
  const served = answer.json as typeof apiDocument;
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect<unknown>(served.servers).toEqual([{ url: service.baseUrl, description: "Staging" }]);
  expect(served.paths["/pets/{petId}"]!.get!["x-sunset"]).toBe("2029-01-01T00:00:00Z");
  expect(answer.text).toContain('"maximum":9223372036854775807');
  const { servers: _servers, paths: _paths, ...rest } = served;
  const { servers: _, paths: __, ...committed } = apiDocument;
  expect(rest).toEqual(committed);
  const proxied = await service.call("GET", "~/openapi.json", {
    headers: { Host: "shop.example", "X-Forwarded-Proto": "https" },
  });
  expect((proxied.json as typeof apiDocument).servers[0]!.url).toBe("https://shop.example/v1");
  const crafted = await service.call("GET", "~/openapi.json", { headers: { Host: "a'b" } });
  expect((crafted.json as typeof apiDocument).servers[0]!.url).toBe("http://localhost/v1");
  await service.stop();
});
