import type { Contract } from "../../api/contract/operation.ts";

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

/** The documentation of one operation of the operator API. Its tag is one of `adminTags`. */
export type AdminContract = Contract<(typeof adminTags)[number]["name"]>;
