import { readFileSync } from "node:fs";
import type { ErrorCode } from "../../../src/domain/running/errors.ts";

/** The parts of the committed API description that the tests read, without references to shared parts. */
export interface DocumentedSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly nullable?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly DocumentedSchema[];
  readonly oneOf?: readonly DocumentedSchema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: DocumentedSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, DocumentedSchema>>;
  readonly required?: readonly string[];
  readonly examples?: readonly unknown[];
  /** Instead of `examples`, in OpenAPI 3.0. */
  readonly example?: unknown;
  readonly additionalProperties?: unknown;
  /** On the field `code` of an Error: every code with its status. */
  readonly "x-error-codes"?: Readonly<Partial<Record<ErrorCode, number>>>;
}

export interface DocumentedHeader {
  readonly description: string;
  readonly required: boolean;
  readonly schema: DocumentedSchema;
  readonly example: string | number;
}

export interface DocumentedContent {
  readonly schema: DocumentedSchema;
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  /** Of a stream: the schema of the data of each kind of event. */
  readonly "x-events"?: Readonly<Record<string, DocumentedSchema>>;
}

export interface DocumentedResponse {
  readonly description: string;
  /** On an error: its possible codes. */
  readonly "x-error-codes"?: readonly ErrorCode[];
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: {
    /** Absent if the body is a file. */
    readonly "application/json": DocumentedContent;
    readonly "text/event-stream"?: DocumentedContent;
  };
}

export interface DocumentedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: DocumentedSchema;
  readonly example: unknown;
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly "x-sunset"?: string;
  readonly "x-stability"?: string;
  readonly "x-required-scope": string;
  readonly parameters?: readonly DocumentedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, DocumentedContent>> };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface ApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly version: string;
    readonly contact: { readonly name: string };
    readonly license: { readonly name: string; readonly url: string };
  };
  readonly servers: readonly { readonly url: string; readonly variables?: object }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, DocumentedHeader>>;
    readonly schemas: Readonly<Record<string, DocumentedSchema>>;
  };
}

const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");

/** A committed description, and the path that its API is under. */
export interface CommittedContract {
  readonly file: string;
  readonly basePath: string;
  readonly text: string;
  readonly document: ApiDocument;
}

function readContract(file: string, basePath: string): CommittedContract {
  const text = read(file);
  return { file, basePath, text, document: parseDocument(text) };
}

/**
 * Headers that only some operations send. A shared response lists them as optional. An operation sends
 * those that its successful response lists with every response.
 */
export const headersOfSome: readonly string[] = [
  ...["Accept-Patch", "Accept-Post", "X-Stability"],
  ...["Deprecation", "Sunset", "Link"],
].map((id) => `#/components/headers/${id}`);

/** Reads a document, and gives every operation its own copy of what it shares with others. */
export function parseDocument(text: string): ApiDocument {
  const read = (components: Record<string, Record<string, object>>) =>
    JSON.parse(text, (_key, value) => {
      const place = /^#\/components\/(parameters|responses|examples)\/(.+)$/.exec(value?.$ref);
      return place ? components[place[1]!]![place[2]!] : value;
    });
  // Twice, because shared responses refer to shared examples.
  const document = read(read(JSON.parse(text).components).components);
  const common = Object.entries<DocumentedHeader>(document["x-common-headers"] ?? {});
  const commonId = (name: string) => `common.${name}`;
  for (const [name, header] of common) document.components.headers[commonId(name)] = header;
  const commonReferences = common.map(([name]) => [
    name,
    { $ref: `#/components/headers/${commonId(name)}` },
  ]);
  for (const { operation } of operationsOf(document)) {
    const [success] = Object.values(operation.responses);
    const isSent = ([name, { $ref }]: [string, { readonly $ref: string }]) =>
      !headersOfSome.includes($ref) || success!.headers?.[name]?.$ref === $ref;
    const responses = Object.entries(operation.responses).map(([status, response]) => {
      const own = Object.entries(response.headers ?? {}).filter(isSent);
      const headers = Object.fromEntries([...commonReferences, ...own]);
      return [status, { ...response, headers }];
    });
    Object.assign(operation, { responses: Object.fromEntries(responses) });
    const bodies = [operation.requestBody, ...Object.values(operation.responses)];
    for (const media of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
      addExample(document, media);
    }
  }
  return document;
}

/** Adds the example of the schema where there is no other one. */
function addExample({ components }: ApiDocument, content: DocumentedContent): void {
  const schema = components.schemas[content.schema.$ref?.split("/").at(-1) ?? ""];
  const value = schema?.examples?.[0] ?? schema?.example;
  const known = value === undefined ? {} : { example: { value } };
  Object.assign(content, { examples: content.examples ?? known });
}

export const apiContract = readContract("openapi.json", "/v1");
export const adminContract = readContract("openapi-admin.json", "/admin");

export const documentText = apiContract.text;
/** The same description in OpenAPI 3.0. */
export const documentText30 = read("openapi-3.0.json");
export const apiDocument = apiContract.document;

export interface Endpoint {
  readonly path: string;
  /** In upper case, as in a request. */
  readonly method: string;
  readonly operation: DocumentedOperation;
}

export function operationsOf(document: ApiDocument): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, here]) =>
    Object.entries(here).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
    })),
  );
}

export const documentedOperations: readonly Endpoint[] = operationsOf(apiDocument);

/** Returns the path template that matches a path, or undefined. */
export function findTemplate(
  { document, basePath }: CommittedContract,
  pathname: string,
): string | undefined {
  // A path without parameters comes first: /pets/import is not the pet with the id "import".
  const byParameters = (template: string) => template.split("{").length;
  const templates = Object.keys(document.paths).toSorted(
    (one, other) => byParameters(one) - byParameters(other),
  );
  return templates.find((template) =>
    new RegExp(`^${basePath}${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
}

export function headerOf(
  { components }: ApiDocument,
  reference: { readonly $ref: string },
): DocumentedHeader {
  return components.headers[reference.$ref.split("/").at(-1)!]!;
}
