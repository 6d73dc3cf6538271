import type { ApiOperation as Operation } from "../declaration.ts";
import { schemas } from "../operations.ts";
import { commonErrors } from "./contract.ts";
import { type Description, describeOperations, type ServerEntry } from "./description.ts";
import { errors } from "./errors.ts";
import { commonHeaders } from "./headers.ts";
import { overview } from "./overview.ts";
import { withSharedParts } from "./shared-parts.ts";
import { webhookSchemas, webhooks } from "./webhooks.ts";

const description: Description = {
  title: "Pet Store Inventory",
  // The version of the API. The version of the package is independent of it.
  version: "1.0.0",
  summary: "Read and update stock levels.",
  overview,
  tags: [
    { name: "Inventory", description: "Stock levels." },
    { name: "History", description: "The ledger: every change to the stock levels." },
    { name: "Pets", description: "The pet catalogue." },
    { name: "Orders", description: "Customer orders." },
  ],
  securitySchemes: {
    apiKey: {
      type: "http",
      scheme: "bearer",
      description: "An API key issued by the operator of the store.",
    },
  },
  schemas: { ...schemas, ...webhookSchemas },
  webhooks,
  errors,
  commonHeaders,
  commonErrors: () => commonErrors,
};

/** Generates the API description from the table of operations. */
export function describeApi(operations: readonly Operation[], servers: readonly ServerEntry[]) {
  return describeOperations(description, operations, servers);
}

export type ApiDocument = ReturnType<typeof describeOperations>;

/** The committed document. The base URLs of both environments are variables. */
export function committedDocument(operations: readonly Operation[]) {
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
  return withSharedParts(describeApi(operations, servers));
}
