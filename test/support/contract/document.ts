import { readFileSync } from "node:fs";
import type { ErrorCode } from "../../../src/domain/errors.ts";

/** The parts of the committed API description that the tests read. */
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
  readonly items?: DocumentedSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, DocumentedSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  /** On the field `code` of an Error: every code with its status. */
  readonly "x-error-codes"?: Readonly<Record<ErrorCode, number>>;
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

export const documentText = read("openapi.json");
/** The same description in OpenAPI 3.0. */
export const documentText30 = read("openapi-3.0.json");
export const apiDocument: ApiDocument = JSON.parse(documentText);

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
export function findTemplate(pathname: string): string | undefined {
  return Object.keys(apiDocument.paths).find((template) =>
    new RegExp(`^/v1${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
}

export function headerOf(reference: { readonly $ref: string }): DocumentedHeader {
  return apiDocument.components.headers[reference.$ref.split("/").at(-1)!]!;
}
