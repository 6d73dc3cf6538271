import {
  bodyTooLarge,
  compressedBody,
  missingScope,
  unsupportedMediaType,
} from "../../messages/error-messages.ts";
import { statusOf } from "../../messages/errors.ts";
import { type KnownNames, repeatedField, unknownName } from "../../messages/fields.ts";
import type { Operation } from "../../pipeline/operation.ts";
import { feedType } from "../feed.ts";
import type { Contract, Example, Messages, OtherContent, Parameter, Success } from "./contract.ts";
import type { DescribedCode, ErrorDescription } from "./errors.ts";
import { type Header, type HeaderId, headerName, headers } from "./headers.ts";
import { reference, type Schema } from "./schema.ts";

export interface ServerEntry {
  readonly url: string;
  readonly description: string;
  readonly variables?: Readonly<Record<string, { default: string; description: string }>>;
}

/** What a document says besides its operations. */
export interface Description {
  readonly title: string;
  readonly version: string;
  readonly summary: string;
  readonly overview: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly securitySchemes: Readonly<Record<string, object>>;
  readonly schemas: Readonly<Record<string, Schema>>;
  /** Requests that the service sends. */
  readonly webhooks?: Readonly<Record<string, object>>;
  readonly errors: Readonly<Record<DescribedCode, ErrorDescription>>;
  /** On every response of every operation, and listed with each. */
  readonly commonHeaders: readonly HeaderId[];
  /** Also on every response, but listed once, in `x-common-headers`, because there are many. */
  readonly onceHeaders?: readonly HeaderId[];
  /** The errors of an operation in addition to those of its contract. */
  commonErrors(operation: DocumentedOperation): readonly DescribedCode[];
}

/** An operation with its part of the document. */
export interface DocumentedOperation extends Operation {
  readonly tag: string;
  readonly contract: Contract;
}

/** Generates an OpenAPI document from a table of operations. */
export function describeOperations(
  description: Description,
  operations: readonly DocumentedOperation[],
  servers: readonly ServerEntry[],
) {
  const byPath = Map.groupBy(operations, (operation) => operation.path);
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  for (const [path, atPath] of byPath) {
    paths[path] = Object.fromEntries(
      atPath.map((operation) => [
        operation.method.toLowerCase(),
        describe(description, operation, acceptHeaders(atPath)),
      ]),
    );
  }
  const { title, version, summary, overview, tags, securitySchemes, schemas } = description;
  const { onceHeaders, webhooks } = description;
  return {
    openapi: "3.1.1",
    info: {
      title,
      version,
      summary,
      description: overview,
      // Only the operator knows a contact address, so the document has none.
      contact: { name: "The operator of this service" },
      license: { name: "Apache 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers,
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    tags,
    ...(onceHeaders && {
      "x-common-headers": Object.fromEntries(
        onceHeaders.map((id) => [
          headerName(id),
          { ...describeHeader(headers[id]), required: true },
        ]),
      ),
    }),
    paths,
    ...(webhooks && { webhooks }),
    components: {
      securitySchemes,
      headers: headersIn(paths),
      schemas: usedSchemas({ paths, webhooks }, schemas),
    },
  };
}

/** The schemas that a part of the document uses, directly or through other schemas. */
export function usedSchemas<T>(
  part: unknown,
  schemas: Readonly<Record<string, T>>,
): Record<string, T> {
  const used = new Set<string>();
  const visit = (value: unknown) => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name!)) continue;
      used.add(name!);
      visit(schemas[name!]);
    }
  };
  visit(part);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

/** The headers that the operations refer to, in the order of the table. */
function headersIn(paths: object) {
  const text = JSON.stringify(paths);
  const ids = Object.keys(headers) as HeaderId[];
  const used = ids.filter((id) => text.includes(`"${reference("headers", id).$ref}"`));
  return Object.fromEntries(used.map((id) => [id, describeHeader(headers[id])]));
}

export type DescribedOperation = ReturnType<typeof describe>;

interface DescribedBody {
  readonly required: boolean;
  readonly description: string;
  /** Every body of the API is JSON. The operator API has others. */
  readonly content: { readonly "application/json": OtherContent };
}

export interface DescribedResponse {
  readonly description: string;
  readonly "x-error-codes"?: readonly DescribedCode[];
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, DescribedContent>>;
}

export interface DescribedContent {
  readonly schema: Schema;
  /** Examples of errors have no summary, because their names say the same. */
  readonly examples: Readonly<Record<string, Pick<Example, "value"> & Partial<Example>>>;
  /** For a stream: the schema of the data of each kind of event. */
  readonly "x-events"?: Readonly<Record<string, Schema>>;
}

/** The headers that list the media types of request bodies. All operations of a path have them. */
function acceptHeaders(operations: readonly DocumentedOperation[]): readonly HeaderId[] {
  const methods = operations.filter(({ body }) => body).map(({ method }) => method);
  return [
    ...(methods.includes("PATCH") ? (["Accept-Patch"] as const) : []),
    ...(methods.includes("POST") ? (["Accept-Post"] as const) : []),
  ];
}

function describe(
  description: Description,
  operation: DocumentedOperation,
  pathHeaders: readonly HeaderId[],
) {
  const { deprecation, contract } = operation;
  const ownHeaders = markers(operation).filter((id) => !description.onceHeaders?.includes(id));
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: contract.summary,
    description: contract.description,
    "x-required-scope": operation.scope,
    ...(operation.stability !== "stable" && { "x-stability": operation.stability }),
    ...(deprecation && {
      deprecated: true,
      "x-deprecated-since": instant(deprecation.since),
      "x-sunset": instant(deprecation.sunsetAt),
    }),
    ...(contract.parameters && { parameters: contract.parameters.map(describeParameter) }),
    ...(contract.body && { requestBody: describeBody(contract.body) }),
    responses: describeResponses(description, operation, [...pathHeaders, ...ownHeaders]),
  };
}

function describeParameter(parameter: Parameter) {
  const { name, in: place, description, schema, example, required = place === "path" } = parameter;
  return { name, in: place, description, schema, example, required };
}

/** The headers for stability and deprecation. All responses of the operation have them. */
function markers({ stability, deprecation }: Operation): readonly HeaderId[] {
  return [
    ...(stability === "stable" ? [] : (["X-Stability"] as const)),
    ...(deprecation ? (["Deprecation", "Sunset", "Link"] as const) : []),
  ];
}

function describeBody(body: NonNullable<Contract["body"]>): DescribedBody {
  const { description, schema, examples = {}, isOptional, others } = body;
  // Only one type of JSON: generators create a method or a union type for each.
  const json = schema ? { "application/json": { schema, examples } } : {};
  const content = { ...json, ...others } as DescribedBody["content"];
  return { required: !isOptional, description, content };
}

function describeResponses(
  description: Description,
  operation: DocumentedOperation,
  shared: readonly HeaderId[],
) {
  const { contract } = operation;
  const responses: Record<string, DescribedResponse> = {};
  const { commonHeaders, commonErrors } = description;
  for (const [status, success] of Object.entries(contract.success)) {
    const headers = [
      ...commonHeaders,
      ...(success.headers ?? []),
      ...cachingOf(operation),
      ...shared,
    ];
    responses[status] = describeSuccess(success, headers);
  }
  const codes = new Set([
    ...(Object.keys(messagesOf(operation)) as DescribedCode[]),
    ...(contract.errors ?? []),
    ...commonErrors(operation),
  ]);
  const byStatus = Map.groupBy(codes, (code) => statusOf[code]);
  for (const [status, here] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = describeErrors(description, status, here, operation, shared);
  }
  return responses;
}

type OwnMessages = NonNullable<Contract["messages"]>;

/** The messages of the operation's own errors. Other errors have their usual messages. */
function messagesOf({ contract, known, body }: DocumentedOperation): OwnMessages {
  const ofParameters = contract.parameters?.map(({ messages }) => messages) ?? [];
  const invalid: Messages = Object.assign(
    {},
    ...ofParameters,
    contract.messages?.invalid_request,
    unknownNames(known),
  );
  return {
    ...contract.messages,
    ...(Object.keys(invalid).length > 0 && { invalid_request: invalid }),
    ...(body && {
      payload_too_large: { payload_too_large: bodyTooLarge(body.bytesMax) },
      unsupported_media_type: {
        unsupported_media_type: unsupportedMediaType(body.mediaTypes),
        compressed_body: compressedBody,
      },
    }),
  };
}

/** The `Cache-Control` of successful responses. With `no-store`, all responses have the header. */
function cachingOf({ method, cacheControl, contract }: DocumentedOperation): readonly HeaderId[] {
  if (method !== "GET" || cacheControl === "no-store") return [];
  if (contract.success[200]?.events) return ["CacheChanges"];
  return [cacheControl === undefined ? "CacheCurrent" : "CacheList"];
}

function describeSuccess(success: Success, headers: readonly HeaderId[]): DescribedResponse {
  const { description, schema, examples = {}, events, others } = success;
  const stream = events && {
    [feedType]: { schema: events.schema, examples: events.examples, "x-events": events.data },
  };
  const json = schema && { "application/json": { schema, examples } };
  return {
    description,
    headers: headerReferences(headers),
    ...(json || others ? { content: { ...json, ...stream, ...others } } : {}),
  };
}

/**
 * Describes all errors of one status, with an example of each. The schema is a plain reference to
 * Error, because generators lose the type of anything more exact. The codes are listed as data.
 */
function describeErrors(
  { errors, commonHeaders }: Description,
  status: number,
  codes: readonly DescribedCode[],
  operation: DocumentedOperation,
  shared: readonly HeaderId[],
): DescribedResponse {
  const { contract, scope } = operation;
  const messages: OwnMessages = {
    insufficient_scope: { insufficient_scope: missingScope(scope!) },
    ...messagesOf(operation),
  };
  const described = codes.map((code) => errors[code]);
  const descriptions = described.map(({ description, afterUpdate }, index) => {
    const code = codes[index]!;
    const text = `\`${code}\`: ${contract.descriptions?.[code] ?? description}`;
    return [text, contract.body && afterUpdate].filter(Boolean).join(" ");
  });
  const examples = codes.flatMap((code) =>
    Object.entries(messages[code] ?? errors[code].examples ?? {}).map(([name, message]) => [
      name,
      { value: { code, message, status, details: contract.details?.[code] } },
    ]),
  );
  const hasDetails = codes.some((code) => contract.details?.[code]);
  const withDetails = codes.includes("idempotency_conflict") ? "MadeError" : "BatchError";
  const errorHeaders = described.flatMap((error) => error.headers ?? []);
  return {
    description: descriptions.join("\n\n"),
    "x-error-codes": codes,
    headers: headerReferences([...commonHeaders, "Cache-Control", ...errorHeaders, ...shared]),
    content: {
      "application/json": {
        schema: reference("schemas", hasDetails ? withDetails : "Error"),
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** The messages for names that an operation does not know. */
function unknownNames(known: KnownNames | undefined): Readonly<Record<string, string>> {
  if (!known) return {};
  const { query, fields } = known;
  return {
    unknown_parameter: unknownName("query parameter", "verbose", query),
    ...(fields.length > 0 && {
      unknown_field: unknownName("field", "comment", fields),
      repeated_field: repeatedField(fields[0]!),
    }),
  };
}

function headerReferences(ids: readonly HeaderId[]) {
  return Object.fromEntries(ids.map((id) => [headerName(id), reference("headers", id)]));
}

function describeHeader({
  description,
  isOptional,
  schema = { type: "string" },
  example = String(schema.const),
}: Header) {
  return { description, required: !isOptional, schema, example };
}

function instant(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}
