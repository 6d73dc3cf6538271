import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import {
  type ApiDocument,
  type CommittedContract,
  type DocumentedResponse,
  findTemplate,
  headerOf,
  headersOfSome,
  operationsOf,
} from "./document.ts";

/**
 * A response to check against the description of its API. Every response that a test receives is
 * checked, so no test can pass with an undocumented status, header or body.
 */
export interface SeenResponse {
  readonly method: string;
  readonly pathname: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Checks responses against one description. */
export function createChecker(contract: CommittedContract) {
  const { document } = contract;
  const operations = operationsOf(document);

  function* faultsOf(answer: SeenResponse): Generator<string> {
    const template = findTemplate(contract, answer.pathname);
    const here = template === undefined ? {} : document.paths[template]!;
    const method = answer.method === "HEAD" ? "GET" : answer.method;
    const operation = here[method.toLowerCase()];
    const response = operation?.responses[answer.status];
    if (!operation) yield* faultsOutsideOperations(answer, Object.keys(here));
    else if (!response)
      yield `status ${answer.status} is not documented for ${operation.operationId}`;
    else yield* faultsInResponse(answer, response);
  }

  function* faultsInResponse(
    answer: SeenResponse,
    response: DocumentedResponse,
  ): Generator<string> {
    for (const [name, reference] of Object.entries(response.headers)) {
      const required =
        headerOf(document, reference).required || headersOfSome.includes(reference.$ref);
      yield* faultsInHeader(answer.headers, name, reference.$ref, required);
    }
    yield* undocumentedHeaders(answer.headers, Object.keys(response.headers));
    const { content } = response;
    if (content === undefined || answer.method === "HEAD") {
      if (answer.text !== "") yield "the body is not documented";
      if (content === undefined) return;
    }
    const type = answer.headers.get("content-type");
    if (type === null || !(type in content)) yield `Content-Type is ${type}`;
    if (answer.method === "HEAD") return;
    if (type === "text/event-stream") yield* faultsInEvents(answer);
    else if (type === "application/json") yield* faultsInBody(answer.text, bodyPointer(response));
  }

  /** The faults of a stream, or of a part of it that consists of whole events. */
  function* faultsInEvents({
    pathname,
    text,
  }: Pick<SeenResponse, "pathname" | "text">): Generator<string> {
    const place = `#/paths/${findTemplate(contract, pathname)!.replaceAll("/", "~1")}/get/responses/200`;
    const kinds = `${place}/content/text~1event-stream/x-events`;
    const blocks = text.split("\n\n");
    if (blocks.pop() !== "") yield "an event does not end with an empty line";
    for (const block of blocks) {
      if (/^retry: [0-9]+$/.test(block)) continue;
      const event = /^id: [!-~]+\nevent: ([a-z]+)\ndata: ([^\n]+)$/.exec(block);
      if (!event) yield `not an event: ${block}`;
      else if (!eventKinds.has(event[1]!)) yield `event ${event[1]} is not documented`;
      else yield* faultsInBody(event[2]!, `${kinds}/${event[1]}`);
    }
  }

  const eventKinds = new Set(
    operations.flatMap(({ operation }) =>
      Object.keys(operation.responses[200]?.content?.["text/event-stream"]?.["x-events"] ?? {}),
    ),
  );

  /** Unknown paths, unsupported methods and OPTIONS: documented in the overview only. */
  function* faultsOutsideOperations(
    answer: SeenResponse,
    methods: readonly string[],
  ): Generator<string> {
    const { status, headers, text } = answer;
    for (const name of Object.keys(commonHeaders))
      yield* faultsInHeader(headers, name, commonHeaders[name]!, true);
    const known = methods.length > 0;
    const isOptions = answer.method === "OPTIONS";
    const possible = known ? (isOptions ? [204, 429] : [401, 405, 429]) : [401, 404, 429];
    if (![...possible, 500, 503].includes(status)) yield `status ${status} is not possible here`;
    if (status === 405 || status === 204) {
      for (const method of methods) {
        if (!headers.get("allow")?.includes(method.toUpperCase())) yield `Allow lacks ${method}`;
      }
    }
    if (status === 401) {
      yield* faultsInHeader(headers, "WWW-Authenticate", headerPointer("WWW-Authenticate"), true);
    }
    if (status === 429 || status === 503) {
      yield* faultsInHeader(headers, "Retry-After", headerPointer("Retry-After"), true);
    }
    if (status < 300 || answer.method === "HEAD") {
      if (text !== "") yield "the body is not documented";
      return;
    }
    if (headers.get("content-type") !== "application/json") yield "the error is not JSON";
    yield* faultsInBody(text, "#/components/schemas/Error");
    if (!text.startsWith("{")) return;
    const body = JSON.parse(text);
    if (body.status !== status) yield "body.status differs";
    if (statusOfCode[body.code] !== status) yield `body.code ${body.code} is not one of ${status}`;
  }

  const statusOfCode: Readonly<Record<string, number>> =
    document.components.schemas.Error!.properties!.code!["x-error-codes"]!;

  const headerPointer = (id: string) => `#/components/headers/${id}`;

  /** The headers of every response. Only operations have a stability. */
  const commonHeaders: Readonly<Record<string, string>> = Object.fromEntries(
    Object.values(document.paths)
      .flatMap((here) => Object.values(here))
      .flatMap((operation) => Object.values(operation.responses))
      .map((response) => Object.entries(response.headers))
      .reduce((common, next) =>
        common.filter(([name]) => next.some(([candidate]) => candidate === name)),
      )
      .filter(([name]) => name !== "X-Stability")
      .map(([name, reference]) => [name, reference.$ref]),
  );

  function* faultsInHeader(
    headers: Headers,
    name: string,
    pointer: string,
    required: boolean,
  ): Generator<string> {
    const text = headers.get(name);
    if (text === null) {
      if (required) yield `header ${name} is missing`;
      return;
    }
    const validate = validator(`${pointer}/schema`);
    const numeric = headerOf(document, { $ref: pointer }).schema.type === "integer";
    if (numeric && !/^(0|[1-9][0-9]*)$/.test(text))
      yield `header ${name} is not an integer: ${text}`;
    else if (!validate(numeric ? Number(text) : text)) yield `header ${name}: ${text}`;
  }

  function* faultsInBody(text: string, pointer: string): Generator<string> {
    let body: unknown;
    const wide: string[] = [];
    try {
      body = parseNoting(text, (source) => {
        if (!isInt64(source)) wide.push(source);
      });
    } catch {
      yield "the body is not JSON";
      return;
    }
    if (wide.length > 0) yield `numbers that are not an int64 in plain digits: ${wide.join()}`;
    const validate = validator(pointer);
    if (!validate(body)) {
      for (const fault of (validate.errors ?? []).slice(0, 5)) {
        yield `body${fault.instancePath} ${fault.message} ${JSON.stringify(fault.params)}`;
      }
    }
  }

  /**
   * The schemas of response bodies. They are stricter than the document, which allows additions by
   * later versions: an error must have one of the documented codes and the status of the response.
   */
  const bodies = new Map<DocumentedResponse, object>();
  for (const { operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const schema = response.content?.["application/json"]?.schema;
      if (schema === undefined) continue;
      const codes = response["x-error-codes"];
      const own = { code: { enum: codes }, status: { const: Number(status) } };
      bodies.set(response, codes ? { allOf: [schema, { properties: own }] } : schema);
    }
  }

  /** Returns the JSON pointer to the schema of a response body, for `validator`. */
  function bodyPointer(response: DocumentedResponse): string {
    return `#/components/x-bodies/${[...bodies.keys()].indexOf(response)}`;
  }

  const requestSchemas = schemasOfRequests(document);

  /** The documented schemas without additional fields. Request bodies still allow them. */
  const closedSchemas = Object.fromEntries(
    Object.entries(document.components.schemas).map(([name, schema]) => [
      name,
      schema.properties && !requestSchemas.has(name)
        ? { ...schema, additionalProperties: false }
        : schema,
    ]),
  );

  const ajv = new Ajv2020({ allErrors: true, strict: false });
  addFormats.default(ajv);
  ajv.addSchema({
    ...document,
    components: {
      ...document.components,
      schemas: closedSchemas,
      "x-bodies": [...bodies.values()],
    },
    $id: "api",
  });
  const validators = new Map<string, ValidateFunction>();

  function validator(pointer: string): ValidateFunction {
    let found = validators.get(pointer);
    if (!found) {
      found = ajv.compile({ $ref: `api${pointer}` });
      validators.set(pointer, found);
    }
    return found;
  }

  return { faultsOf, faultsInEvents, bodyPointer, validator };
}

/** Headers of HTTP itself, and those of CORS, which only configured origins get. */
const undescribedHeaders =
  /^(content-type|content-length|content-encoding|transfer-encoding|date|connection|keep-alive|vary|access-control-.*)$/;

function* undocumentedHeaders(headers: Headers, documented: readonly string[]): Generator<string> {
  const names = new Set(documented.map((name) => name.toLowerCase()));
  for (const [name, value] of headers) {
    const isOfProxy = /^(?:server: nginx|server: Caddy|via: |alt-svc: )/.test(`${name}: ${value}`);
    if (!names.has(name) && !undescribedHeaders.test(name) && !isOfProxy)
      yield `header ${name} is not documented`;
  }
}

/** Parses JSON and reports the source of every number, because JSON.parse rounds beyond 2^53. */
function parseNoting(text: string, note: (source: string) => void): unknown {
  // Most texts have short plain numbers only. The reviver is thirty times slower.
  if (!/\d{16}|\d[.eE]|-0/.test(text)) return JSON.parse(text);
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
  return parse(text, (_key, value, context) => {
    if (typeof value === "number") note(context.source ?? "");
    return value;
  });
}

function isInt64(source: string): boolean {
  return (
    /^(0|-?[1-9][0-9]{0,18})$/.test(source) && BigInt.asIntN(64, BigInt(source)) === BigInt(source)
  );
}

/** The names of the schemas that request bodies refer to, also through others. */
function schemasOfRequests({ paths, components }: ApiDocument): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    const references = (JSON.stringify(value) ?? "").matchAll(/"#\/components\/schemas\/(\w+)"/g);
    for (const [, name] of references) {
      if (names.has(name!)) continue;
      names.add(name!);
      collect(components.schemas[name!]);
    }
  };
  for (const here of Object.values(paths)) {
    for (const { requestBody } of Object.values(here)) collect(requestBody);
  }
  return names;
}
