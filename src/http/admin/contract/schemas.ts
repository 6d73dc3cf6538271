import type { Schema } from "../../api/contract/schema.ts";
import { schemas as apiSchemas } from "../../api/contract/schemas.ts";
import { sessionSchemas } from "./session.ts";

const { Error: errorSchema } = apiSchemas;

/** All schemas of the operator API. Those of the API that it uses are listed by name. */
export const adminSchemas: Readonly<Record<string, Schema>> = {
  ...sessionSchemas,
  Error: errorSchema!,
};
