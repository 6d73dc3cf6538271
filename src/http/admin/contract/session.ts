import { environments } from "../../../domain/keys/keys.ts";
import { reference, responseObject, type Schema } from "../../api/contract/schema.ts";
import { signInWithKey } from "../../messages/error-messages.ts";
import { exampleOperatorId } from "./examples.ts";
import type { AdminContract } from "./operation.ts";

const exampleSession = {
  operator: { id: exampleOperatorId, name: "Ada" },
  environment: "production",
  version: "0.9.0",
  expiresAt: "2026-11-16T20:00:00.000Z",
};

export const sessionSchemas: Readonly<Record<string, Schema>> = {
  Operator: responseObject(
    "An operator: the owner of an operator key.",
    {
      id: { type: "string", description: "The ID of the operator key." },
      name: { type: "string", description: "The name of the operator key." },
    },
    exampleSession.operator,
  ),
  Session: responseObject(
    "Who is signed in, and where.",
    {
      operator: { ...reference("schemas", "Operator"), description: "Who is signed in." },
      environment: {
        type: "string",
        enum: environments,
        description: "The environment of the service.",
      },
      version: { type: "string", description: "The version of the service." },
      expiresAt: {
        type: ["string", "null"],
        format: "date-time",
        description:
          "When the session ends by itself. For a request with a key, when the key expires; null if it does not.",
      },
    },
    exampleSession,
  ),
};

const body = {
  schema: reference("schemas", "Session"),
  examples: { session: { summary: "A session", value: exampleSession } },
};

export const startSession: AdminContract = {
  tag: "Session",
  summary: "Sign in",
  description:
    "Exchanges an operator key for a session of 12 hours. Send the key in `Authorization`. The response sets a cookie, which authenticates later requests of the same browser. The session also ends when the key expires, is revoked, or is rotated without an overlap.",
  success: { 201: { description: "The new session.", headers: ["Set-Cookie"], ...body } },
  errors: ["invalid_request"],
  messages: { invalid_request: { key_required: signInWithKey } },
};

export const getSession: AdminContract = {
  tag: "Session",
  summary: "Get the session",
  description: "Returns who is signed in.",
  success: { 200: { description: "The session.", ...body } },
  errors: [],
};

export const endSession: AdminContract = {
  tag: "Session",
  summary: "Sign out",
  description: "Ends the session and removes its cookie. The cookie no longer works.",
  success: { 204: { description: "The session has ended.", headers: ["Set-Cookie"] } },
  errors: [],
};
