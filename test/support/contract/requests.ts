import fc from "fast-check";
import { batchOf } from "./batches.ts";
import {
  apiDocument,
  type DocumentedSchema,
  documentedOperations,
  type Endpoint,
} from "./document.ts";
import {
  extras,
  integerText,
  invalid,
  knownPets,
  mostlyValid,
  notAnObject,
  type Part,
  resolve,
  valid,
  writtenInteger,
  wrongValue,
} from "./values.ts";

/**
 * A request generated from openapi.json. Every part is valid according to the document, or invalid
 * on purpose. An invalid part lists the error statuses that it can cause.
 */
export interface FuzzedRequest {
  readonly method: string;
  /** Relative to the base URL, including the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly key: KeyKind;
  /** The statuses of all faults. Empty if the request is valid. */
  readonly faults: readonly number[];
  /** Whether the pet in the path exists. True if the path has no pet. */
  readonly namesKnownPet: boolean;
}

export type KeyKind = "good" | "narrow" | "missing" | "unknown" | "malformed";

function bodyOf(schema: DocumentedSchema): fc.Arbitrary<Part<string>> {
  const resolved = resolve(schema);
  if (resolved.properties?.changes) return batchOf(resolved.properties.changes);
  const [field, property] = Object.entries(resolved.properties!)[0]!;
  const written = (value: string, rest: Record<string, unknown>) => {
    const others = JSON.stringify(rest).slice(1, -1);
    return `{${others}${others && ","}${JSON.stringify(field)}:${value}}`;
  };
  const object = (value: fc.Arbitrary<string>) =>
    fc.tuple(value, extras).map(([text, rest]) => written(text, rest));
  const malformed = fc.oneof(
    { arbitrary: object(wrongValue(property)), weight: 4 },
    extras.map((rest) => JSON.stringify(rest)),
    notAnObject.map((value) => JSON.stringify(value)),
    fc.constantFrom("", "{", '{"quantity":}', "{quantity:1}", '{"quantity":1}}', "\u0000"),
  );
  const oversized = object(writtenInteger(property)).map((text) => text + " ".repeat(65_536));
  return fc.oneof(
    { arbitrary: object(writtenInteger(property)).map(valid), weight: 10 },
    { arbitrary: malformed.map(invalid(400)), weight: 9 },
    { arbitrary: oversized.map(invalid(413)), weight: 1 },
  );
}
/** The media types in `Accept-Patch` or `Accept-Post`. The document lists only one for the body. */
const acceptedTypes = (method: string) => {
  const { schema } =
    apiDocument.components.headers[method === "PATCH" ? "Accept-Patch" : "Accept-Post"]!;
  return String(schema.const).split(", ");
};

const contentType = (types: readonly string[]): fc.Arbitrary<Part<string | undefined>> =>
  mostlyValid(
    fc
      .constantFrom(undefined, ...types, ...types.map((type) => `${type}; charset=utf-8`))
      .map(valid<string | undefined>),
    fc.constantFrom("text/plain", "application/xml", "application/jsonx", "*/*").map(invalid(415)),
  );

const keyKinds: fc.Arbitrary<Part<KeyKind>> = fc.oneof(
  { arbitrary: fc.constant(valid<KeyKind>("good")), weight: 12 },
  { arbitrary: fc.constant(invalid(403)<KeyKind>("narrow")), weight: 1 },
  {
    arbitrary: fc.constantFrom<KeyKind>("missing", "unknown", "malformed").map(invalid(401)),
    weight: 2,
  },
);

/** A request to one documented operation. */
function toOperation(endpoint: Endpoint): fc.Arbitrary<FuzzedRequest> {
  const { operation, method, path } = endpoint;
  const parameters = operation.parameters ?? [];
  const inPath = parameters.filter((one) => one.in === "path");
  const inQuery = parameters.filter((one) => one.in === "query");
  const inHeaders = parameters.filter((one) => one.in === "header");
  const content = Object.entries(operation.requestBody?.content ?? {});
  return fc
    .record({
      key: keyKinds,
      path: fc.tuple(...inPath.map((one) => pathValue(one.schema))),
      query: fc.tuple(...inQuery.map((one) => queryValues(one.name, one.schema))),
      headers: fc.tuple(...inHeaders.map((one) => headerValue(one.name))),
      type: content.length > 0 ? contentType(acceptedTypes(method)) : fc.constant(valid(undefined)),
      body: content[0] ? bodyOf(content[0][1].schema) : fc.constant(valid(undefined)),
      stray: fc.constantFrom("", "", "color=blue"),
      head: fc.boolean(),
    })
    .map((drawn) => {
      const query = [...drawn.query.flatMap((part) => part.value), drawn.stray].filter(Boolean);
      const address = inPath.reduce(
        (text, one, at) => text.replace(`{${one.name}}`, encodeURIComponent(drawn.path[at]!.value)),
        path,
      );
      const sent = drawn.headers;
      const parts = [drawn.key, ...drawn.path, ...drawn.query, ...sent, drawn.type, drawn.body];
      return {
        method: method === "GET" && drawn.head ? "HEAD" : method,
        path: address + (query.length > 0 ? `?${query.join("&")}` : ""),
        headers: {
          ...Object.assign({}, ...sent.map((part) => part.value)),
          ...(drawn.type.value === undefined ? {} : { "Content-Type": drawn.type.value }),
        },
        body: drawn.body.value,
        key: drawn.key.value,
        faults: parts.flatMap((part) => part.faults),
        namesKnownPet: drawn.path.every(({ value }) => knownPets.map(String).includes(value)),
      };
    });
}

function pathValue(schema: DocumentedSchema): fc.Arbitrary<Part<string>> {
  const known = fc.constantFrom(...knownPets).map((value) => valid(String(value)));
  return fc.oneof({ arbitrary: known, weight: 2 }, { arbitrary: integerText(schema), weight: 1 });
}

/** A query parameter: absent, present once, or present twice, which is invalid. */
function queryValues(name: string, schema: DocumentedSchema): fc.Arbitrary<Part<string[]>> {
  const pair = (value: string) => `${name}=${encodeURIComponent(value)}`;
  return fc.oneof(
    fc.constant(valid<string[]>([])),
    integerText(schema).map(({ value, faults }) => ({ value: [pair(value)], faults })),
    fc.constant(invalid(400)([pair("1"), pair("2")])),
  );
}

function headerValue(name: string): fc.Arbitrary<Part<Record<string, string>>> {
  const given = (value: string | undefined): Record<string, string> =>
    value === undefined ? {} : { [name]: value };
  const text = fc.stringMatching(/^[!-~]{1,20}$/).filter((one) => one !== "*");
  if (name === "If-Match") {
    const any = fc.constantFrom(undefined, undefined, undefined, "*").map(given).map(valid);
    return fc.oneof({ arbitrary: any, weight: 4 }, text.map(given).map(invalid(412)));
  }
  if (name === "Idempotency-Key") {
    // Unique, so that no request is a retry of another.
    const key = fc.uuid().map((id) => `"${id}"`);
    const wrong = fc.constantFrom(
      "",
      '"',
      '"a',
      "a b",
      '"a", "b"',
      '"\\a"',
      `"${"x".repeat(256)}"`,
    );
    return fc.oneof(
      { arbitrary: fc.option(key, { nil: undefined }).map(given).map(valid), weight: 6 },
      wrong.map(given).map(invalid(400)),
    );
  }
  if (name === "X-Change-Reason") {
    const reason = fc
      .string({ maxLength: 60, unit: "grapheme" })
      .filter((one) => !/\p{Cc}/u.test(one));
    const encoded = reason.map((one) => encodeURIComponent(one.toWellFormed()));
    const wrong = fc.constantFrom("%", "100%", "%FF", "%0A", "a%00", "x".repeat(201));
    return fc.oneof(
      { arbitrary: fc.option(encoded, { nil: undefined }).map(given).map(valid), weight: 6 },
      wrong.map(given).map(invalid(400)),
    );
  }
  return fc.option(text, { nil: undefined }).map(given).map(valid);
}

/** A request with a method that its path does not support. */
const undeclaredMethod: fc.Arbitrary<FuzzedRequest> = fc
  .record({
    path: fc.constantFrom(...Object.keys(apiDocument.paths)),
    method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE"),
    key: keyKinds,
    body: fc.option(fc.json({ maxDepth: 1 }), { nil: undefined }),
  })
  .filter(({ path, method }) => !(method.toLowerCase() in apiDocument.paths[path]!))
  .map(({ path, method, key, body }) => ({
    method,
    path: path.replace("{petId}", "7"),
    headers: {},
    body: method === "GET" ? undefined : body,
    key: key.value,
    faults: [405, ...key.faults.filter((status) => status === 401)],
    namesKnownPet: true,
  }));

const unknownPath: fc.Arbitrary<FuzzedRequest> = fc
  .record({
    path: fc.constantFrom("/", "/pets", "/inventory/7/history", "/store", "/store/orders/1", "/ü"),
    method: fc.constantFrom("GET", "HEAD", "PATCH", "POST", "DELETE", "OPTIONS"),
    key: keyKinds,
  })
  .map(({ path, method, key }) => ({
    method,
    path,
    headers: {},
    body: undefined,
    key: key.value,
    faults: [404, ...key.faults.filter((status) => status === 401)],
    namesKnownPet: false,
  }));

export const anyRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  ...documentedOperations.map((endpoint) => ({
    arbitrary: toOperation(endpoint),
    // Operations with more input are called more often.
    weight: endpoint.operation.requestBody ? 12 : 3 * (endpoint.operation.parameters ?? []).length,
  })),
  { arbitrary: undeclaredMethod, weight: 2 },
  { arbitrary: unknownPath, weight: 1 },
);
