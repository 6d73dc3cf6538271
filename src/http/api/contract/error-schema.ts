import { petNotFound } from "../../../domain/ledger/inventory.ts";
import type { ErrorCode } from "../../../domain/running/errors.ts";
import { statusOf } from "../../messages/errors.ts";
import { responseObject, type Schema, text } from "./schema.ts";

/** The body of every error response of an API that sends these codes. */
export function errorSchema(codes: readonly ErrorCode[]): Schema {
  const known = codes.map((code) => `\`${code}\` ${statusOf[code]}`).join(", ");
  return responseObject(
    "The body of every error response.",
    {
      code: {
        type: "string",
        description: `The error code, for programs. Each code has one HTTP status: ${known}. Later versions can add codes. Handle an unknown code by its status.`,
        "x-error-codes": Object.fromEntries(codes.map((code) => [code, statusOf[code]])),
      },
      message: text(
        "The error message, for people. It names the field or header and the rule. Do not parse it.",
      ),
      status: {
        type: "integer",
        format: "int32",
        minimum: 400,
        maximum: 599,
        description: "The HTTP status of the response.",
      },
    },
    { code: "not_found", message: petNotFound, status: 404 },
  );
}
