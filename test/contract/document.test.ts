import { describe, expect, test } from "bun:test";
import { describeAdminApi } from "../../src/http/admin/contract/document.ts";
import { committedDocument, describeApi } from "../../src/http/api/contract/document.ts";
import { asOpenApi30 } from "../../src/http/api/contract/openapi-3-0.ts";
import { operations as adminOperations } from "../support/admin/operations.ts";
import {
  adminContract,
  apiContract,
  apiDocument,
  type DocumentedContent,
  documentedOperations,
  documentText,
  documentText30,
  operationsOf,
} from "../support/contract/document.ts";
import { adminChecker, apiChecker } from "../support/contract/response-check.ts";
import { operations } from "../support/operations.ts";
import { startTestService } from "../support/service.ts";
import { openCertificateFolder } from "../support/tls.ts";

describe("openapi.json", () => {
  test("is up to date with the table of operations", () => {
    const made = committedDocument(operations);
    expect(JSON.parse(documentText)).toEqual(JSON.parse(JSON.stringify(made)));
    expect(JSON.parse(documentText30)).toEqual(JSON.parse(JSON.stringify(asOpenApi30(made))));
  });

  test("lists exactly the operations of the table, with id, scope, stability and deprecation", () => {
    expect(documentedOperations.map(({ operation }) => operation.operationId).sort()).toEqual(
      operations.map(({ id }) => id).sort(),
    );
    for (const { path, method, operation } of documentedOperations) {
      const entry = operations.find(({ id }) => id === operation.operationId)!;
      expect([method, path]).toEqual([entry.method, entry.path]);
      expect(operation["x-required-scope"]).toBe(entry.scope);
      expect(operation["x-stability"] ?? "stable").toBe(entry.stability);
      expect(operation.deprecated ?? false).toBe(entry.deprecation !== undefined);
    }
  });

  test("loses nothing by what operations share", () => {
    const { paths } = describeApi(operations, []);
    for (const { path, method, operation } of documentedOperations) {
      const made = paths[path]![method.toLowerCase()]!;
      const parts = ({ parameters = [], responses }: typeof made | typeof operation) => ({
        parameters,
        responses: Object.entries(responses).map(([status, { content = {}, ...response }]) => ({
          ...{ status, ...response },
          examples: Object.values<DocumentedContent>(content).map(({ examples }) =>
            Object.values(examples).map(({ value }) => value),
          ),
        })),
      });
      expect(parts(operation)).toEqual(JSON.parse(JSON.stringify(parts(made))));
    }
  });

  test("has a variable for the base URL of each environment", () => {
    expect(apiDocument.servers.map(({ url }) => url)).toEqual(["{base_url}", "{staging_url}"]);
    expect(apiDocument.info.version).toBe("1.0.0");
  });

  test("documents the deprecation and the sunset date", () => {
    const pet = apiDocument.paths["/pets/{petId}"]!.get!;
    expect(pet.deprecated).toBe(true);
    expect(pet["x-sunset"]).toBe("2027-12-31T00:00:00Z");
  });
});

describe.each([
  [apiContract, apiChecker()],
  [adminContract, adminChecker()],
] as const)("$file", ({ document, basePath }, { validator, bodyPointer, faultsInEvents }) => {
  const documented = operationsOf(document);

  test("has only examples that match their schemas", () => {
    let examples = 0;
    for (const { path, method, operation } of documented) {
      for (const response of Object.values(operation.responses)) {
        const content = response.content?.["application/json"];
        for (const [name, { value }] of Object.entries(content?.examples ?? {})) {
          expect([name, validator(bodyPointer(response))(value)]).toEqual([name, true]);
          examples += 1;
        }
      }
      const feed = operation.responses[200]?.content?.["text/event-stream"];
      for (const { value } of Object.values(feed?.examples ?? {})) {
        const faults = [...faultsInEvents({ pathname: basePath + path, text: String(value) })];
        expect([operation.operationId, faults]).toEqual(["listChanges", []]);
        examples += 1;
      }
      const here = `#/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}`;
      for (const [at, { name, example }] of (operation.parameters ?? []).entries()) {
        const place = encodeURI(`${here}/parameters/${at}/schema`);
        expect([name, validator(place)(example)]).toEqual([name, true]);
      }
      const body = operation.requestBody?.content["application/json"];
      for (const [name, { value }] of Object.entries(body?.examples ?? {})) {
        const place = encodeURI(`${here}/requestBody/content/application~1json/schema`);
        expect([name, validator(place)(value)]).toEqual([name, true]);
      }
    }
    for (const [name, header] of Object.entries(document.components.headers)) {
      const accepted = validator(`#/components/headers/${name}/schema`)(header.example);
      expect([name, accepted]).toEqual([name, true]);
    }
    expect(examples).toBeGreaterThan(30);
  });

  test("shows an example of every error code of an operation", () => {
    for (const { operation } of documented) {
      for (const { content, "x-error-codes": codes } of Object.values(operation.responses)) {
        if (codes === undefined) continue;
        const { examples } = content!["application/json"];
        const shown = Object.values(examples).map(({ value }) => (value as { code: string }).code);
        expect<unknown>([...new Set(shown)]).toEqual(codes);
      }
    }
  });
});

test("openapi-admin.json is up to date with the table of operations, and is served without a key", async () => {
  const made = describeAdminApi(adminOperations);
  expect(JSON.parse(adminContract.text)).toEqual(JSON.parse(JSON.stringify(made)));
  const service = await startTestService("sqlite");
  try {
    const served = await service.call("GET", "~/admin/openapi.json");
    expect(served.status).toBe(200);
    expect(served.headers.get("content-type")).toBe("application/json");
    expect(served.headers.has("access-control-allow-origin")).toBe(false);
    expect(served.json).toEqual(JSON.parse(adminContract.text));
  } finally {
    await service.stop();
  }
});

test("both documents are served without a key, with the origin of the request as base URL", async () => {
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
  const { servers: _, paths: __, ...committed } = JSON.parse(documentText);
  expect(rest).toEqual(committed);
  const named = await service.call("GET", "~/openapi.json", { headers: { Host: "shop.example" } });
  expect((named.json as typeof apiDocument).servers[0]!.url).toBe("http://shop.example/v1");
  const crafted = await service.call("GET", "~/openapi.json", { headers: { Host: "a'b" } });
  expect((crafted.json as typeof apiDocument).servers[0]!.url).toBe("http://localhost/v1");
  const older = await service.call("GET", "~/openapi-3.0.json");
  expect(older.status).toBe(200);
  expect(older.headers.get("content-type")).toBe("application/json");
  expect(older.headers.get("access-control-allow-origin")).toBe("*");
  expect(older.text).toContain('"maximum":9223372036854775807');
  expect(older.text).toContain('"x-sunset":"2029-01-01T00:00:00Z"');
  const earlier = older.text.replaceAll("2029-01-01T00:00:00Z", "2027-12-31T00:00:00Z");
  expect(JSON.parse(earlier)).toEqual({
    ...JSON.parse(documentText30),
    servers: served.servers,
  });
  await service.stop();
});

test("the documents and the page have https in their base URL under our own TLS, or if a trusted proxy says so", async () => {
  const files = openCertificateFolder("first");
  const cases = [
    [{}, "http://shop.example/v1"],
    [{ "trusted-proxies": "127.0.0.1" }, "https://public.example/v1"],
    [files.flags, "https://shop.example/v1"],
  ] as const;
  for (const [flags, expected] of cases) {
    const service = await startTestService("sqlite", flags);
    const headers = {
      Host: "shop.example",
      "X-Forwarded-Host": "public.example",
      "X-Forwarded-Proto": "https",
    };
    for (const path of ["~/docs", "~/openapi.json", "~/openapi-3.0.json"]) {
      const { text } = await service.call("GET", path, { headers });
      expect([path, /https?:..(?:shop|public)[.]example.v1/.exec(text)?.[0]]).toEqual([
        path,
        expected,
      ]);
    }
    await service.stop();
  }
  files.remove();
});
