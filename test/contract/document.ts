import { readFileSync } from "node:fs";

/** The committed API description, as far as the tests read it. */
export interface DocumentedSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, DocumentedSchema>>;
  readonly required?: readonly string[];
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
}

export interface DocumentedResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: { readonly "application/json": DocumentedContent };
}

export interface DocumentedParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: DocumentedSchema;
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
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string; readonly variables?: object }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, DocumentedHeader>>;
    readonly schemas: Readonly<Record<string, DocumentedSchema>>;
  };
}

const file = new URL("../../openapi.json", import.meta.url);

export const documentText = readFileSync(file, "utf8");
export const apiDocument: ApiDocument = JSON.parse(documentText);

export interface PlacedOperation {
  readonly path: string;
  /** In capitals, as it is sent. */
  readonly method: string;
  readonly operation: DocumentedOperation;
}

export const documentedOperations: readonly PlacedOperation[] = Object.entries(
  apiDocument.paths,
).flatMap(([path, here]) =>
  Object.entries(here).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation,
  })),
);

/** The path template that an address falls under, or undefined. */
export function findTemplate(pathname: string): string | undefined {
  return Object.keys(apiDocument.paths).find((template) =>
    new RegExp(`^/v1${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
}

export function headerOf(reference: { readonly $ref: string }): DocumentedHeader {
  return apiDocument.components.headers[reference.$ref.split("/").at(-1)!]!;
}
