import type { By } from "../../domain/audit/audit.ts";
import type { OperatorScope, Role } from "../../domain/keys/keys.ts";
import type { Contract } from "../api/contract/contract.ts";
import type {
  ApiSettings,
  Changing,
  Declaration,
  DeclaredBody,
  Reading,
} from "../api/declaration.ts";
import type { Context } from "../pipeline/context.ts";
import type { ChangeCall, Operation } from "../pipeline/operation.ts";

export const adminTags = [
  { name: "Session", description: "Sign in and out of the console." },
  { name: "Keys", description: "API keys and operator keys, their use and their bans." },
  { name: "Stock", description: "The stock of all pets." },
  { name: "Changes", description: "The ledger: what changed, who did it, and how to undo it." },
  { name: "Pets", description: "The pet catalogue." },
  { name: "Orders", description: "Customer orders." },
  { name: "Webhooks", description: "Addresses that changes are sent to." },
  { name: "Backups", description: "Copies of the whole store." },
  { name: "Service", description: "The service itself, and what operators did." },
] as const;

/** The least roles that can read and that can change what the operations of a tag are about. */
export const rolesOfTags: Readonly<Record<AdminOperation["tag"], readonly [Role, Role]>> = {
  Session: ["viewer", "viewer"],
  Keys: ["owner", "owner"],
  Stock: ["viewer", "clerk"],
  Changes: ["viewer", "clerk"],
  Pets: ["viewer", "clerk"],
  Orders: ["viewer", "clerk"],
  Webhooks: ["owner", "owner"],
  Backups: ["owner", "owner"],
  Service: ["viewer", "owner"],
};

/** An operation of the operator API. */
export interface AdminOperation extends Operation {
  readonly scope: OperatorScope;
  readonly tag: (typeof adminTags)[number]["name"];
  readonly contract: Contract;
}

/** An operation as its file declares it. What all operations have in common is added to it. */
export type AdminDeclaration = Pick<Declaration, "path" | "body" | "isLong" | "contract"> &
  (Reading | Changing);

export type AdminSettings = Pick<ApiSettings, DeclaredBody["bytesMax"]>;

export function byOperator({ actor }: ChangeCall, { clock }: Pick<Context, "clock">): By {
  return { actor, now: clock.now() };
}
