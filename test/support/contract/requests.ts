import fc from "fast-check";
import { testStart } from "../clock.ts";
import { batchOf } from "./batches.ts";
import {
  apiDocument,
  type DocumentedParameter,
  type DocumentedSchema,
  documentedOperations,
  type Endpoint,
} from "./document.ts";
import { headerValue } from "./header-values.ts";
import {
  extras,
  integerText,
  invalid,
  knownPets,
  mostlyValid,
  notAnObject,
  notDigits,
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
  /** Statuses that a request without faults may also get, depending on what is stored. */
  readonly possible: readonly number[];
  /** Whether the pet in the path exists. True if the path has no pet. */
  readonly namesKnownPet: boolean;
}

export type KeyKind = "good" | "narrow" | "missing" | "unknown" | "malformed";

/** Only operations of the specification ignore parameters that they do not know. */
const rejectedStray = (text: string): Part<string> => ({ value: text, faults: text ? [400] : [] });

function bodyOf(schema: DocumentedSchema): fc.Arbitrary<Part<string>> {
  const [field, property] = Object.entries(resolve(schema).properties!)[0]!;
  if (property.items) return batchOf(field, property);
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

export const keyKinds: fc.Arbitrary<Part<KeyKind>> = fc.oneof(
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
      path: fc.tuple(...inPath.map(pathValue)),
      query: fc.tuple(...inQuery.map(queryValues)),
      headers: fc.tuple(...inHeaders.map((one) => headerValue(one.name, path))),
      type: content.length > 0 ? contentType(acceptedTypes(method)) : fc.constant(valid(undefined)),
      body: content[0] ? bodyOf(content[0][1].schema) : fc.constant(valid(undefined)),
      stray: fc
        .constantFrom("", "", "", "", "", "color=blue")
        .map(operation["x-stability"] === "beta" ? rejectedStray : valid<string>),
      head: fc.boolean(),
    })
    .map((drawn) => {
      const query = [...drawn.query.flatMap((part) => part.value), drawn.stray.value].filter(
        Boolean,
      );
      const address = inPath.reduce(
        (text, one, at) => text.replace(`{${one.name}}`, encodeURIComponent(drawn.path[at]!.value)),
        path,
      );
      const sent = drawn.headers;
      const parts = [
        drawn.key,
        ...drawn.path,
        ...drawn.query,
        ...sent,
        drawn.type,
        drawn.body,
        drawn.stray,
      ];
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
        namesKnownPet: drawn.path.every(
          ({ value }, at) => inPath[at]!.name !== "petId" || knownPets.map(String).includes(value),
        ),
        possible: parts.flatMap((part: Part<unknown>) => part.possible ?? []),
      };
    });
}

/** A ledger row or a time. The ledger has at least a row for each known pet. */
const moment: fc.Arbitrary<Part<string>> = fc.oneof(
  { arbitrary: fc.nat(knownPets.length).map(String).map(valid), weight: 4 },
  {
    arbitrary: fc
      .date({ min: new Date(0), max: new Date("2026-11-15"), noInvalidDate: true })
      .map((date) => valid(date.toISOString())),
    weight: 2,
  },
  {
    arbitrary: fc.constantFrom("1e3", "01", "-1", "2026-13-01", "now").map(invalid(400)),
    weight: 1,
  },
  { arbitrary: fc.constant(invalid(404)(String(Number.MAX_SAFE_INTEGER))), weight: 1 },
);

function pathValue(parameter: DocumentedParameter): fc.Arbitrary<Part<string>> {
  if (parameter.name === "moment") return moment;
  const { schema } = parameter;
  if (schema.pattern) return queryText(parameter).filter(({ value }) => value !== "");
  const known = fc.constantFrom(...knownPets).map((value) => valid(String(value)));
  return fc.oneof({ arbitrary: known, weight: 2 }, { arbitrary: integerText(schema), weight: 1 });
}

/** The value of a query parameter: an integer, one of several texts, a time, or a pattern. */
function queryText({ name, schema }: DocumentedParameter): fc.Arbitrary<Part<string>> {
  if (name === "to") return moment;
  if (schema.type === "integer") return integerText(schema);
  const isValid = (text: string) =>
    schema.enum?.includes(text) ??
    (schema.format === "date-time"
      ? !Number.isNaN(Date.parse(text))
      : new RegExp(schema.pattern!).test(text));
  const good = schema.enum
    ? fc.constantFrom(...(schema.enum as readonly string[]))
    : schema.format === "date-time"
      ? instantText
      : fc.stringMatching(new RegExp(schema.pattern!));
  const bad = fc.oneof(notDigits, fc.constant("")).filter((text) => !isValid(text));
  return mostlyValid(good.map(valid), bad.map(invalid(400)));
}

/** A time as RFC 3339 writes it, with and without a fraction and an offset from UTC. */
const instantText: fc.Arbitrary<string> = fc
  .record({
    time: fc.oneof(
      fc.integer({ min: Date.UTC(1, 0, 2), max: Date.UTC(9999, 11, 30) }),
      fc.integer({ min: -10, max: 10 }).map((ms) => testStart + ms),
    ),
    tail: fc.constantFrom("Z", "z", ".000Z", ".000001+01:00", "+01:00", "-11:30", "exact"),
  })
  .map(({ time, tail }) => {
    const text = new Date(time).toISOString();
    return tail === "exact" ? text : text.replace(/\.\d{3}Z$/, tail);
  });

/** A query parameter: absent, present once, or present twice, which is invalid. */
function queryValues(parameter: DocumentedParameter): fc.Arbitrary<Part<string[]>> {
  const pair = (value: string) => `${parameter.name}=${encodeURIComponent(value)}`;
  return fc.oneof(
    fc.constant((parameter.required ? invalid(400) : valid)<string[]>([])),
    queryText(parameter).map(({ value, faults }) => ({ value: [pair(value)], faults })),
    fc.constant(invalid(400)([pair("1"), pair("2")])),
  );
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
    path: path.replace("{petId}", "7").replace("{moment}", "1"),
    headers: {},
    body: method === "GET" ? undefined : body,
    key: key.value,
    faults: [405, ...key.faults.filter((status) => status === 401)],
    possible: [],
    namesKnownPet: true,
  }));

const unknownPath: fc.Arbitrary<FuzzedRequest> = fc
  .record({
    path: fc.constantFrom("/", "/pets", "/inventory/7/stock", "/store", "/store/orders/1", "/ü"),
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
    possible: [],
    namesKnownPet: false,
  }));

/** Requests to the operations as the document describes them, without the feed. */
export const anyRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  ...documentedOperations.map((endpoint) => ({
    arbitrary: toOperation(endpoint),
    // Operations with more input are called more often.
    weight: endpoint.operation.requestBody
      ? 12
      : 3 * Math.max(1, endpoint.operation.parameters?.length ?? 0),
  })),
  { arbitrary: undeclaredMethod, weight: 2 },
  { arbitrary: unknownPath, weight: 1 },
);
