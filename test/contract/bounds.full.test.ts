import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  operationExamples as adminExamples,
  prepareExamples,
} from "../support/admin/operation-examples.ts";
import { issueOperator } from "../support/admin/operators.ts";
import {
  adminContract,
  apiContract,
  type DocumentedSchema,
  documentText30,
  type Endpoint,
  operationsOf,
  parseDocument,
} from "../support/contract/document.ts";
import { boundsOf } from "../support/contract/values.ts";
import { operationExamples as apiExamples, type Example } from "../support/operation-examples.ts";
import { program } from "../support/program.ts";
import { startTestService, type TestService } from "../support/service.ts";

const documents = {
  "openapi.json": apiContract,
  "openapi-3.0.json": { ...apiContract, document: parseDocument(documentText30) },
  "openapi-admin.json": adminContract,
};

let service: TestService;
let keys: Record<string, string>;
beforeAll(async () => {
  const flags = { "webhooks-allowed-networks": "127.0.0.0/8" };
  service = await startTestService("sqlite", flags, {}, { program });
  await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, status: "sold" });
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const api = (await service.issueKey({ plan: "enterprise", limits })).text;
  keys = { "/v1": api, "/admin": (await issueOperator(service)).text };
});
afterAll(() => service.stop());

describe.each(Object.entries(documents))("the bounds in %s", (_file, { document, basePath }) => {
  const resolve = (schema: DocumentedSchema): DocumentedSchema => {
    const name = schema.$ref?.split("/").at(-1);
    return name === undefined ? schema : document.components.schemas[name]!;
  };

  async function good({ operation: { operationId: id } }: Endpoint): Promise<Example> {
    if (basePath === "/v1") return apiExamples[id]!.good;
    return (await prepareExamples(service, id))(adminExamples[id]!.good);
  }

  async function send({ method }: Endpoint, { path, body, headers }: Example) {
    const target = `~${basePath}${path}`;
    const sent = { key: keys[basePath], ...(headers && { headers }), ...(body && { body }) };
    return service.call(method, target, sent);
  }

  /** A request with one field of its body replaced by `json`. */
  async function withField(endpoint: Endpoint, field: string, json: string) {
    const example = await good(endpoint);
    const others = Object.entries(JSON.parse(example.body ?? "{}")).filter(
      ([name]) => name !== field,
    );
    const texts = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    const body = `{${[...texts, `${JSON.stringify(field)}:${json}`].join()}}`;
    return send(endpoint, { ...example, body });
  }

  async function withParameter(endpoint: Endpoint, name: string, value: string) {
    const example = await good(endpoint);
    const [path, query] = example.path.split("?");
    const parameters = new URLSearchParams(query);
    parameters.set(name, value);
    return send(endpoint, { ...example, path: `${path}?${parameters}` });
  }

  const endpoints = operationsOf(document).map(
    (endpoint) => [endpoint.operation.operationId, endpoint] as const,
  );
  const withBody = endpoints.flatMap(([id, endpoint]) => {
    const schema = endpoint.operation.requestBody?.content["application/json"]?.schema;
    return schema ? [[id, endpoint, resolve(schema)] as const] : [];
  });

  test.each(withBody)(
    "are those of the fields in the body of %s",
    async (_id, endpoint, schema) => {
      for (const [field, property] of Object.entries(schema.properties!)) {
        for (const json of invalidJson(property, resolve)) {
          const { status } = await withField(endpoint, field, json);
          expect([field, json.slice(0, 50), status]).toEqual([field, json.slice(0, 50), 400]);
        }
        for (const json of extremeJson(property, resolve)) {
          const { status, text } = await withField(endpoint, field, json);
          // The pet of the test before may have the barcode. It is within the bounds all the same.
          const isTaken = field === "barcode" && text.includes('"already_exists"');
          expect([field, json.slice(0, 50), text, isTaken || status < 300]).toEqual([
            field,
            json.slice(0, 50),
            text,
            true,
          ]);
        }
      }
    },
  );

  const withQuery = endpoints.filter(([, { operation }]) =>
    operation.parameters?.some((one) => one.in === "query"),
  );

  test.each(withQuery)("are those of the parameters of %s", async (_id, endpoint) => {
    for (const { name, in: place, schema, example } of endpoint.operation.parameters!) {
      if (place !== "query") continue;
      for (const value of invalidTexts(resolve(schema))) {
        const { status } = await withParameter(endpoint, name, value);
        expect([name, value.slice(0, 50), status]).toEqual([name, value.slice(0, 50), 400]);
      }
      const { maxLength } = resolve(schema);
      if (maxLength === undefined) continue;
      const longest = String(example).padStart(maxLength, "a");
      const { status } = await withParameter(endpoint, name, longest);
      expect([name, status < 300]).toEqual([name, true]);
    }
  });
});

type Resolve = (schema: DocumentedSchema) => DocumentedSchema;

function isNullable({ type, nullable }: DocumentedSchema): boolean {
  return nullable === true || [type].flat().includes("null");
}

/** Values that the document forbids. Throws if it leaves a text or a list without a bound. */
function invalidJson(given: DocumentedSchema, resolve: Resolve): string[] {
  const schema = resolve(given);
  if (schema.anyOf) {
    // Each alternative forbids what another one allows: the integer 1, and the same as a text.
    const forbidden = schema.anyOf.flatMap((one) => invalidJson(one, resolve));
    return forbidden.filter((json) => !/^"?1"?$/.test(json));
  }
  const types = [schema.type].flat();
  const found = isNullable(schema) ? ["{}"] : ["{}", "null"];
  if (types.includes("integer")) found.push(...outside(schema), '"1"', "1.5");
  if (types.includes("boolean")) found.push('"true"', "1");
  if (types.includes("string"))
    found.push("1", ...invalidTexts(schema).map((text) => JSON.stringify(text)));
  if (types.includes("array")) found.push(...invalidLists(schema, resolve));
  return found;
}

function outside(schema: DocumentedSchema): string[] {
  const { min, max } = boundsOf(schema);
  return [String(min - 1n), String(max + 1n)];
}

function invalidLists({ items, minItems, maxItems }: DocumentedSchema, resolve: Resolve): string[] {
  const item = resolve(items!);
  const found = invalidJson(item, resolve).map((json) => `[${json}]`);
  if (minItems !== undefined) found.push("[]");
  if (item.enum !== undefined) return found;
  if (maxItems === undefined) throw new Error("a list has no bound");
  // Different ones: the same pet twice counts once.
  const some = (at: number) => (item.type === "string" ? `"${at}"` : `${at}`);
  return [...found, `[${Array.from({ length: maxItems + 1 }, (_, at) => some(at)).join()}]`];
}

function invalidTexts(schema: DocumentedSchema): string[] {
  const { type, enum: values, pattern, format, minLength, maxLength } = schema;
  if ([type].flat().includes("integer")) return ["x", "", ...outside(schema)];
  const found: string[] = [];
  if (type === "boolean" || values !== undefined || format !== undefined) found.push("x y", "");
  if (minLength !== undefined) found.push("");
  if (maxLength !== undefined) found.push("a".repeat(maxLength + 1));
  if (pattern !== undefined) {
    const form = new RegExp(pattern, "u");
    found.push(...["", "\u0000", "a".repeat(10_000)].filter((text) => !form.test(text)));
  }
  const isBounded = [maxLength, pattern, values, format].some((one) => one !== undefined);
  if (type !== "boolean" && !isBounded) throw new Error("a text has no bound");
  return found;
}

/** The longest texts and lists that the document allows. */
function extremeJson(given: DocumentedSchema, resolve: Resolve): string[] {
  const schema = resolve(given);
  const { maxLength, maxItems, items } = schema;
  const types = [schema.type].flat();
  if (schema.format !== undefined) return [];
  if (types.includes("string") && maxLength !== undefined) return [`"${"a".repeat(maxLength)}"`];
  const item = items && resolve(items);
  if (!types.includes("array") || item?.type !== "string" || maxItems === undefined) return [];
  const longest = "a".repeat(item.maxLength!);
  return [`["${longest}"]`, JSON.stringify(Array.from({ length: maxItems }, (_, at) => `${at}`))];
}
