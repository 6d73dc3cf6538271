import { countOutdated, countUntimed } from "../../domain/ledger/changes.ts";
import { countedAtRule, statusRule } from "../api/change-list.ts";
import { applyChanges as apiChanges, batch } from "../api/changes.ts";
import { jsonTypes } from "../messages/requests.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { exampleCount, exampleStatusChange } from "./contract/stock-schemas.ts";

const { contract: shared } = apiChanges;

const applyChanges: AdminDeclaration = {
  method: "POST",
  path: "/changes",
  body: { mediaTypes: jsonTypes, bytesMax: "changesBytesMax" },
  contract: {
    ...shared,
    description: `${shared.description} A change can also set the \`status\` of the pet, with or without a new count.

A change with \`countedAt\` is a count that was made earlier, while others sold: the new quantity is \`quantity\` plus what has changed since that row of the ledger. It fails with 409 if that is below 0 or not known.`,
    body: {
      ...shared.body!,
      examples: {
        ...shared.body!.examples,
        status: { summary: "A new status", value: { changes: [exampleStatusChange] } },
        count: { summary: "A count", value: { changes: [exampleCount] } },
      },
    },
    messages: {
      ...shared.messages,
      invalid_request: {
        ...shared.messages!.invalid_request,
        invalid_status: `Change 0 (pet 7): ${statusRule}`,
        invalid_counted_at: `Change 0 (pet 7): ${countedAtRule}`,
      },
      version_conflict: {
        ...shared.messages!.version_conflict,
        count_outdated: `Change 0 (pet 7): ${countOutdated}`,
        count_untimed: `Change 0 (pet 7): ${countUntimed}`,
      },
    },
  },
  ...batch("console"),
};

export const changeOperations = { applyChanges };
