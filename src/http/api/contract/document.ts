import { statusOf } from "../../errors.ts";
import { missingScope } from "../../messages.ts";
import type { ApiOperation as Operation } from "../operations.ts";
import { type DescribedCode, type ErrorDescription, errors } from "./errors.ts";
import { everyAnswer, type Header, type HeaderId, headerName, headers } from "./headers.ts";
import { type Contract, type Example, everyOperation, type Success } from "./operation.ts";
import { overview } from "./overview.ts";
import { reference, type Schema, schemas } from "./schemas.ts";

export interface ServerEntry {
  readonly url: string;
  readonly description: string;
  readonly variables?: Readonly<Record<string, { default: string; description: string }>>;
}

export interface DocumentOptions {
  readonly servers: readonly ServerEntry[];
}

/** The version of the API described; the package that serves it has its own. */
const apiVersion = "1.0.0";

/** The whole API description, made from the table of operations. */
export function describeApi(operations: readonly Operation[], options: DocumentOptions) {
  const byPath = Map.groupBy(operations, (operation) => operation.path);
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  for (const [path, here] of byPath) {
    paths[path] = Object.fromEntries(
      here.map((operation) => [operation.method.toLowerCase(), describe(operation)]),
    );
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Pet Store Inventory",
      version: apiVersion,
      summary: "What is in stock, and setting it right.",
      description: overview,
      // Whoever runs the service answers for it; only they know at which address.
      contact: { name: "The operator of this service" },
      license: { name: "Apache 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: options.servers,
    security: [{ apiKey: [] }],
    tags: [
      { name: "Inventory", description: "How many of each pet there are." },
      { name: "Pets", description: "The catalogue behind the inventory." },
      { name: "Orders", description: "What customers have ordered." },
    ],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "The API key as the store's operator issued it.",
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
}

/** The committed document: both environments, their addresses left open. */
export function committedDocument(operations: readonly Operation[]): ApiDocument {
  const address = (name: string, port: number, environment: string): ServerEntry => ({
    url: `{${name}}`,
    description: `${environment}.`,
    variables: {
      [name]: {
        default: `http://127.0.0.1:${port}/v1`,
        description: `The base address of the ${environment.toLowerCase()} environment; it ends in /v1.`,
      },
    },
  });
  const servers = [
    address("base_url", 8080, "Production"),
    address("staging_url", 8081, "Staging"),
  ];
  return describeApi(operations, { servers });
}

function describe(operation: Operation) {
  const { contract, deprecation } = operation;
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
            required: parameter.in === "path",
          })),
        }
      : {}),
    ...(contract.body ? { requestBody: describeBody(contract.body) } : {}),
    responses: describeResponses(contract, operation.scope),
  };
}

function describeBody({ description, schema, examples }: NonNullable<Contract["body"]>) {
  // One media type only: generators make a method or a union type for each.
  return { required: true, description, content: { "application/json": { schema, examples } } };
}

function describeResponses(contract: Contract, scope: string) {
  const responses: Record<string, DescribedResponse> = {};
  for (const [status, success] of Object.entries(contract.success)) {
    responses[status] = describeSuccess(success, contract.headers ?? []);
  }
  const codes = [...contract.errors, ...everyOperation];
  const byStatus = Map.groupBy(codes, (code) => statusOf[code]);
  for (const [status, here] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = describeRefusals(status, here, contract, scope);
  }
  return responses;
}

function describeSuccess(success: Success, also: readonly HeaderId[]): DescribedResponse {
  const { description, schema, examples = {} } = success;
  return {
    description,
    headers: headerReferences([...everyAnswer, ...(success.headers ?? []), ...also]),
    ...(schema ? { content: { "application/json": { schema, examples } } } : {}),
  };
}

/**
 * All refusals of one status: their texts and an example of each. The schema is Error and nothing
 * around it, since generators lose the type of anything more exact; the codes are listed as data.
 */
function describeRefusals(
  status: number,
  codes: readonly DescribedCode[],
  contract: Contract,
  scope: string,
): DescribedResponse {
  const described = codes.map((code): ErrorDescription => errors[code]);
  const texts = codes.map((code) => `\`${code}\`: ${errors[code].description}`);
  const examples = codes.flatMap((code) =>
    Object.entries(messages(code, contract, scope)).map(([name, message]) => [
      name,
      { summary: name.replaceAll("_", " "), value: { code, message, status } },
    ]),
  );
  const own = described.flatMap((error) => error.headers ?? []);
  return {
    description: texts.join(" "),
    "x-error-codes": codes,
    headers: headerReferences([
      ...everyAnswer,
      "Cache-Control",
      ...own,
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

function messages(code: DescribedCode, contract: Contract, scope: string): Record<string, string> {
  if (code === "invalid_request") return { ...contract.invalid };
  if (code === "insufficient_scope") return { [code]: missingScope(scope) };
  return { ...errors[code].examples };
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
