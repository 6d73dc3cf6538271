import { statusOf } from "../../errors.ts";
import { missingScope } from "../../messages.ts";
import { feedType } from "../feed.ts";
import type { ApiOperation as Operation } from "../operations.ts";
import { type DescribedCode, type ErrorDescription, errors } from "./errors.ts";
import { commonHeaders, type Header, type HeaderId, headerName, headers } from "./headers.ts";
import { type Contract, commonErrors, type Example, type Success } from "./operation.ts";
import { overview } from "./overview.ts";
import { reference, type Schema } from "./schema.ts";
import { schemas } from "./schemas.ts";

export interface ServerEntry {
  readonly url: string;
  readonly description: string;
  readonly variables?: Readonly<Record<string, { default: string; description: string }>>;
}

export interface DocumentOptions {
  readonly servers: readonly ServerEntry[];
}

/** The version of the API. The version of the package is independent of it. */
const apiVersion = "1.0.0";

/** Generates the API description from the table of operations. */
export function describeApi(operations: readonly Operation[], options: DocumentOptions) {
  const byPath = Map.groupBy(operations, (operation) => operation.path);
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  for (const [path, atPath] of byPath) {
    paths[path] = Object.fromEntries(
      atPath.map((operation) => [
        operation.method.toLowerCase(),
        describe(operation, acceptHeaders(atPath)),
      ]),
    );
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Pet Store Inventory",
      version: apiVersion,
      summary: "Read and update stock levels.",
      description: overview,
      // Only the operator knows a contact address, so the document has none.
      contact: { name: "The operator of this service" },
      license: { name: "Apache 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: options.servers,
    security: [{ apiKey: [] }],
    tags: [
      { name: "Inventory", description: "Stock levels." },
      { name: "History", description: "The ledger: every change to the stock levels." },
      { name: "Pets", description: "The pet catalogue." },
      { name: "Orders", description: "Customer orders." },
    ],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "An API key issued by the operator of the store.",
        },
      },
      headers: Object.fromEntries(
        Object.entries(headers).map(([id, header]) => [id, describeHeader(header)]),
      ),
      schemas,
    },
  };
}

export type ApiDocument = ReturnType<typeof describeApi>;
export type DescribedOperation = ReturnType<typeof describe>;

export interface DescribedResponse {
  readonly description: string;
  readonly "x-error-codes"?: readonly DescribedCode[];
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, DescribedContent>>;
}

export interface DescribedContent {
  readonly schema: Schema;
  readonly examples: Readonly<Record<string, Example>>;
  /** Of a stream: the schema of the data of each kind of event. */
  readonly "x-events"?: Readonly<Record<string, Schema>>;
}

/** The committed document. The base URLs of both environments are variables. */
export function committedDocument(operations: readonly Operation[]): ApiDocument {
  const server = (name: string, port: number, environment: string): ServerEntry => ({
    url: `{${name}}`,
    description: `${environment}.`,
    variables: {
      [name]: {
        default: `http://127.0.0.1:${port}/v1`,
        description: `The base URL of the ${environment.toLowerCase()} environment, ending in /v1.`,
      },
    },
  });
  const servers = [server("base_url", 8080, "Production"), server("staging_url", 8081, "Staging")];
  return describeApi(operations, { servers });
}

/** The headers that list the media types of request bodies. All operations of a path have them. */
function acceptHeaders(operations: readonly Operation[]): readonly HeaderId[] {
  const methods = operations.filter(({ body }) => body).map(({ method }) => method);
  return [
    ...(methods.includes("PATCH") ? (["Accept-Patch"] as const) : []),
    ...(methods.includes("POST") ? (["Accept-Post"] as const) : []),
  ];
}

function describe(operation: Operation, pathHeaders: readonly HeaderId[]) {
  const { deprecation } = operation;
  const ownHeaders = operation.contract.headers ?? [];
  const contract = { ...operation.contract, headers: [...pathHeaders, ...ownHeaders] };
  return {
    operationId: operation.id,
    tags: [contract.tag],
    summary: contract.summary,
    description: contract.description,
    "x-required-scope": operation.scope,
    ...(operation.stability === "stable" ? {} : { "x-stability": operation.stability }),
    ...(deprecation === undefined
      ? {}
      : {
          deprecated: true,
          "x-deprecated-since": instant(deprecation.since),
          "x-sunset": instant(deprecation.sunsetAt),
        }),
    ...(contract.parameters
      ? {
          parameters: contract.parameters.map((parameter) => ({
            ...parameter,
            required: parameter.in === "path" || parameter.required === true,
          })),
        }
      : {}),
    ...(contract.body ? { requestBody: describeBody(contract.body) } : {}),
    responses: describeResponses(contract, operation.scope),
  };
}

function describeBody({ description, schema, examples }: NonNullable<Contract["body"]>) {
  // Only one media type: generators create a method or a union type for each.
  return { required: true, description, content: { "application/json": { schema, examples } } };
}

function describeResponses(contract: Contract, scope: string) {
  const responses: Record<string, DescribedResponse> = {};
  for (const [status, success] of Object.entries(contract.success)) {
    responses[status] = describeSuccess(success, contract.headers ?? []);
  }
  const codes = [...contract.errors, ...commonErrors];
  const byStatus = Map.groupBy(codes, (code) => statusOf[code]);
  for (const [status, codesOfStatus] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = describeErrors(status, codesOfStatus, contract, scope);
  }
  return responses;
}

function describeSuccess(success: Success, shared: readonly HeaderId[]): DescribedResponse {
  const { description, schema, examples = {}, events } = success;
  const stream = events && {
    [feedType]: { schema: events.schema, examples: events.examples, "x-events": events.data },
  };
  return {
    description,
    headers: headerReferences([...commonHeaders, ...(success.headers ?? []), ...shared]),
    ...(schema ? { content: { "application/json": { schema, examples }, ...stream } } : {}),
  };
}

/**
 * Describes all errors of one status, with an example of each. The schema is a plain reference to
 * Error, because generators lose the type of anything more exact. The codes are listed as data.
 */
function describeErrors(
  status: number,
  codes: readonly DescribedCode[],
  contract: Contract,
  scope: string,
): DescribedResponse {
  const described = codes.map((code): ErrorDescription => errors[code]);
  const descriptions = described.map(({ description, afterUpdate }, index) => {
    const code = codes[index]!;
    const text = `\`${code}\`: ${contract.descriptions?.[code] ?? description}`;
    return [text, contract.body && afterUpdate].filter(Boolean).join(" ");
  });
  const examples = codes.flatMap((code) =>
    Object.entries(messages(code, contract, scope)).map(([name, message]) => [
      name,
      { summary: sentenceCase(name), value: { code, message, status } },
    ]),
  );
  const errorHeaders = described.flatMap((error) => error.headers ?? []);
  return {
    description: descriptions.join("\n\n"),
    "x-error-codes": codes,
    headers: headerReferences([
      ...commonHeaders,
      "Cache-Control",
      ...errorHeaders,
      ...(contract.headers ?? []),
    ]),
    content: {
      "application/json": {
        schema: reference("schemas", "Error"),
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** "rate_limit_exceeded" becomes "Rate limit exceeded". */
function sentenceCase(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1).replaceAll("_", " ");
}

function messages(code: DescribedCode, contract: Contract, scope: string): Record<string, string> {
  if (code === "insufficient_scope") return { [code]: missingScope(scope) };
  return contract.messages?.[code] ?? errors[code].examples;
}

function headerReferences(ids: readonly HeaderId[]) {
  return Object.fromEntries(ids.map((id) => [headerName(id), reference("headers", id)]));
}

function describeHeader({ description, required, schema, example }: Header) {
  return { description, required, schema, example };
}

function instant(time: number): string {
  return new Date(time).toISOString().replace(".000Z", "Z");
}
