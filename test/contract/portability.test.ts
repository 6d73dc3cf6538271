import { describe, expect, test } from "bun:test";
import { apiErrorCodes } from "../../src/domain/running/errors.ts";
import { statusOf } from "../../src/http/messages/errors.ts";
import {
  type ApiDocument,
  adminContract,
  type DocumentedSchema,
  documentText,
  documentText30,
  operationsOf,
  parseDocument,
} from "../support/contract/document.ts";

/** What code generators need from both documents. docs/contract.md lists the generators tried. */

const documents = { "openapi.json": documentText, "openapi-3.0.json": documentText30 };

describe.each(Object.entries(documents))("%s", (_file, text) => {
  const api = parseDocument(text);
  const operations = operationsOf(api);
  const errors = operations.flatMap(({ operation }) =>
    Object.entries(operation.responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, response]) => ({ id: operation.operationId, status, response })),
  );

  test("gives every integer a format: int64, except for the HTTP status", () => {
    const integers = schemasIn(api).filter(({ schema }) =>
      [schema.type].flat().includes("integer"),
    );
    const narrow = integers.filter(({ schema }) => schema.format !== "int64");
    expect(narrow.map(({ place, schema }) => [place, schema.format])).toEqual([
      ["components.schemas.Error.properties.status", "int32"],
      ["components.schemas.BatchError.properties.status", "int32"],
    ]);
    const places = integers.map(({ place }) => place);
    expect(places).toContain("components.schemas.InventoryItem.properties.quantity");
    expect(places).toContain("components.headers.Retry-After.schema");
    expect(places).toContain("paths./store/orders.get.parameters.0.schema");
  });

  test("describes every error with a plain reference to the schema Error, or BatchError where it can name lines", () => {
    expect(errors.length).toBeGreaterThan(20);
    for (const { id, status, response } of errors) {
      const isBatch = id === "applyChanges" && ["404", "409"].includes(status);
      expect([id, status, response.content?.["application/json"].schema]).toEqual([
        id,
        status,
        { $ref: `#/components/schemas/${isBatch ? "BatchError" : "Error"}` },
      ]);
    }
  });

  test("lists the codes of every error as data, not as a closed enum", () => {
    const { code } = api.components.schemas.Error!.properties!;
    expect(code!.enum).toBeUndefined();
    expect(Object.keys(code!["x-error-codes"]!)).toEqual(apiErrorCodes);
    for (const one of apiErrorCodes) expect(code!.description).toContain(`\`${one}\``);
    for (const { status, response } of errors) {
      const codes = response["x-error-codes"]!;
      expect(codes.length).toBeGreaterThan(0);
      for (const one of codes) {
        expect(statusOf[one]).toBe(Number(status));
        expect(response.description).toContain(`\`${one}\``);
      }
    }
  });

  test("allows additional fields in every response, and forbids them only in bodies of requests", () => {
    const closed = schemasIn(api).filter(({ schema }) => schema.additionalProperties !== undefined);
    expect(closed.map(({ place }) => place)).toEqual([
      "components.schemas.QuantityChange",
      "components.schemas.DeltaChange",
      "components.schemas.StockChanges",
    ]);
  });

  test("documents one media type for a body, and no header that HTTP libraries set", () => {
    for (const { operation } of operations) {
      const names = (operation.parameters ?? []).map(({ name }) => name.toLowerCase());
      // Generated code would set these headers and override the HTTP library.
      for (const name of ["accept-encoding", "content-type", "authorization"]) {
        expect(names).not.toContain(name);
      }
      const types = Object.keys(operation.requestBody?.content ?? { "application/json": {} });
      expect(types).toEqual(["application/json"]);
    }
  });

  test("names a contact and a license, without an address that could be wrong", () => {
    const { contact, license } = api.info;
    expect(contact).toEqual({ name: "The operator of this service" });
    expect(license).toEqual({
      name: "Apache 2.0",
      url: "https://www.apache.org/licenses/LICENSE-2.0",
    });
  });

  test("gives every parameter an example", () => {
    const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
    expect(parameters.length).toBeGreaterThan(4);
    for (const { name, example } of parameters) expect([name, example]).not.toContain(undefined);
  });
});

test.each(Object.entries({ ...documents, "openapi-admin.json": adminContract.text }))(
  "%s gives unbounded 64-bit integers the exact bounds of int64",
  (_file, text) => {
    const lower = [...text.matchAll(/"minimum": (-\d{17,})/g)].map((match) => match[1]);
    const upper = [...text.matchAll(/"maximum": (\d{17,})/g)].map((match) => match[1]);
    expect(new Set(lower)).toEqual(new Set(["-9223372036854775808"]));
    expect(new Set(upper)).toEqual(new Set(["9223372036854775807"]));
    expect(upper.length).toBe(lower.length);
  },
);

describe("openapi-3.0.json", () => {
  const api = parseDocument(documentText30);

  test("uses only keywords of OpenAPI 3.0", () => {
    expect(api.openapi).toBe("3.0.4");
    expect(Object.keys(api.info)).not.toContain("summary");
    for (const { place, schema } of schemasIn(api)) {
      expect([place, Array.isArray(schema.type)]).toEqual([place, false]);
      const keywords = Object.keys(schema);
      for (const word of ["const", "examples", "title"]) expect(keywords).not.toContain(word);
      if (schema.$ref !== undefined) expect([place, keywords]).toEqual([place, ["$ref"]]);
    }
    const { category } = api.components.schemas.Pet!.properties!;
    expect([category!.type, category!.nullable]).toEqual(["string", true]);
  });

  test("has the operations, statuses, headers and schemas of openapi.json, without webhooks", () => {
    const original = parseDocument(documentText);
    expect(Object.keys(original)).toContain("webhooks");
    expect(Object.keys(api)).not.toContain("webhooks");
    const ofWebhooks = ["InventoryChanged", "WebhookTest", "WebhookData"];
    const outline = (one: ApiDocument) => ({
      servers: one.servers,
      operations: operationsOf(one).map(({ path, method, operation }) => ({
        path,
        method,
        id: operation.operationId,
        parameters: (operation.parameters ?? []).map(({ name }) => name),
        responses: Object.entries(operation.responses).map(([status, response]) => ({
          status,
          headers: response.headers,
          codes: response["x-error-codes"],
          examples: response.content?.["application/json"].examples,
        })),
      })),
      schemas: Object.entries(one.components.schemas).map(([name, schema]) => ({
        name,
        required: schema.required,
        fields: Object.keys(schema.properties ?? {}),
      })),
    });
    const { schemas, ...others } = outline(original);
    const same = schemas.filter(({ name }) => !ofWebhooks.includes(name));
    expect(same).toHaveLength(schemas.length - ofWebhooks.length);
    expect(outline(api)).toEqual({ ...others, schemas: same });
  });
});

interface LocatedSchema {
  readonly place: string;
  readonly schema: DocumentedSchema;
}

/** Returns every schema of a document with its location, at any depth. */
function schemasIn(api: ApiDocument): LocatedSchema[] {
  const found: LocatedSchema[] = [];
  const walk = (node: unknown, place: string, isSchema: boolean): void => {
    if (typeof node !== "object" || node === null) return;
    if (isSchema) found.push({ place, schema: node as DocumentedSchema });
    for (const [key, value] of Object.entries(node)) {
      if (["example", "examples", "value", "x-error-codes"].includes(key)) continue;
      const below = place === "" ? key : `${place}.${key}`;
      const named = place.endsWith(".properties") || place === "components.schemas";
      walk(value, below, named || key === "schema" || key === "items");
    }
  };
  walk(api, "", false);
  return found;
}
