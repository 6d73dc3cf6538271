import { basename } from "node:path";
import { type Actor, newCommand } from "../../domain/audit/audit.ts";
import { keyOfSession } from "../../domain/catalogue/assistant-sessions.ts";
import { fileNameRule, importReasonOf } from "../../domain/catalogue/imports.ts";
import { roleOf, rolesFrom } from "../../domain/keys/keys.ts";
import { InvalidField, invalidRequest } from "../../domain/running/errors.ts";
import type { Store } from "../../domain/store.ts";

/** The flags of a command that the service runs for an operator. */
export const attributionFlags = {
  as: {
    placeholder: "KEY",
    description: "Id of the operator key to record the change for. Default: none.",
  },
  "request-id": {
    placeholder: "ID",
    field: "requestId",
    description: "Id of the request to record the change for. Only with --as.",
  },
} as const;

type Attribution = Readonly<Record<keyof typeof attributionFlags, string | undefined>>;

const requestIdPattern = /^[0-9A-Za-z_-]{1,64}$/;

/**
 * Who the ledger and the audit log name for a change. The service runs such a command for an operator
 * who is signed in, so the key must be an operator's key that is still valid. An assistant undoes its
 * own `session` with its API key, and nothing else.
 */
export async function actorOf(
  keys: Store["keys"] | undefined,
  { as: keyId, "request-id": requestId }: Attribution,
  now: number,
  session = "",
): Promise<Actor> {
  if (requestId !== undefined && !requestIdPattern.test(requestId)) {
    const rule = "must have 1 to 64 letters, digits, hyphens or underscores";
    throw new InvalidField("requestId", rule);
  }
  if (keyId === undefined) {
    if (requestId === undefined) return newCommand();
    throw invalidRequest("--request-id needs --as");
  }
  const key = await keys?.findKey(keyId);
  const isValid = key?.revokedAt === null && now < (key.expiresAt ?? Infinity);
  const mayChange = key?.scopes.includes("inventory:write") && keyOfSession(session) === keyId;
  if (isValid && mayChange) return { keyId, requestId: requestId ?? null };
  const role = key && roleOf(key);
  if (!role || !isValid) throw new InvalidField("as", "must be the id of a valid operator key");
  const allowed = rolesFrom("clerk");
  if (!allowed.includes(role)) {
    throw new InvalidField("as", `must be an operator key with the role ${allowed.join(" or ")}`);
  }
  return { keyId, requestId: requestId ?? null };
}

/** The reason of the ledger rows. `file` is the operand of the command. */
export function reasonOf(file: string, name: string | undefined): string {
  // Clients and receivers of webhooks see it, so it has no folders. No rule was ever applied to it.
  if (name === undefined) return `import of ${basename(file)}`;
  const reason = importReasonOf(name);
  if (reason === undefined) throw new InvalidField("name", fileNameRule);
  return reason;
}
