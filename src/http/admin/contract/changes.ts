import { petNotFound } from "../../../domain/ledger/inventory.ts";
import { statusRule } from "../../api/change-list.ts";
import * as apiChanges from "../../api/changes.ts";
import { exampleRow } from "../../api/contract/examples.ts";
import type { Parameter } from "../../api/contract/operation.ts";
import { boundedInteger, reference } from "../../api/contract/schema.ts";
import * as apiHistory from "../../api/history.ts";
import * as apiSnapshots from "../../api/snapshots.ts";
import { jsonTypes } from "../../messages/body.ts";
import { rowNumberRule, undoOfCreation, undoOfRemoval } from "../changes.ts";
import { conflictMessage } from "../conflicts.ts";
import { bodyErrors, bodyMessages, mediaMessages } from "./body-errors.ts";
import type { AdminContract } from "./operation.ts";
import { sharedContract } from "./shared.ts";
import { exampleStatusChange, exampleUndo } from "./stock-schemas.ts";

export const exampleConflict = conflictMessage({
  seq: exampleRow.seq,
  after: { quantity: 12, status: "available" },
  at: Date.parse(exampleRow.at),
  cause: "api",
  keyId: exampleRow.keyId,
  keyName: exampleRow.keyName,
});

const seqParameter: Parameter = {
  name: "seq",
  in: "path",
  description: "The number of the ledger row.",
  schema: boundedInteger(1, Number.MAX_SAFE_INTEGER),
  example: 1207,
};

const sharedChanges = sharedContract(apiHistory.listChanges.contract, "Changes");

export const listChanges: AdminContract = {
  ...sharedChanges,
  description: `${sharedChanges.description} An operator key can have 200 of them.`,
};
export const getLedgerHead = sharedContract(apiHistory.getLedgerHead.contract, "Changes");
export const getSnapshot = sharedContract(apiSnapshots.getSnapshot.contract, "Changes");
export const getDiff = sharedContract(apiSnapshots.getDiff.contract, "Changes");

const shared = sharedContract(apiChanges.applyChanges.contract, "Changes");

export const applyChanges: AdminContract = {
  ...shared,
  description: `${shared.description} Besides a new count, a change can give the pet a new \`status\`, with or without a quantity.`,
  body: {
    ...shared.body!,
    examples: {
      ...shared.body!.examples,
      status: { summary: "A new status", value: { changes: [exampleStatusChange] } },
    },
  },
  messages: {
    ...shared.messages,
    invalid_request: {
      ...shared.messages!.invalid_request,
      invalid_status: `Change 0 (pet 7): ${statusRule}`,
    },
  },
};

export const undoChange: AdminContract = {
  tag: "Changes",
  summary: "Undo a change",
  description:
    "Gives a pet the quantity and status that it had before a ledger row, as a new row. The row must be the last one of its pet, unless `force` is true. Otherwise nothing is changed, and the message says what is stored now and who changed it. A row that added or removed a pet cannot be undone.",
  parameters: [seqParameter],
  body: {
    description: "Why, and whether to overwrite later changes.",
    isOptional: true,
    schema: reference("schemas", "Undo"),
    examples: { undo: { summary: "With a reason", value: exampleUndo } },
  },
  success: {
    200: {
      description: "The new row.",
      schema: reference("schemas", "LedgerRow"),
      examples: {
        row: {
          summary: "An undo",
          value: {
            ...exampleRow,
            seq: 1208,
            before: exampleRow.after,
            after: exampleRow.before,
            cause: "undo",
            reason: exampleUndo.reason,
          },
        },
      },
    },
  },
  errors: [...bodyErrors, "not_found", "version_conflict"],
  messages: {
    invalid_request: {
      ...bodyMessages,
      invalid_seq: rowNumberRule,
      added_pet: undoOfCreation(31, 7n),
      removed_pet: undoOfRemoval(1207, 7n),
    },
    ...mediaMessages(jsonTypes),
    not_found: { not_found: "There is no ledger row 1300.", pet_not_found: petNotFound },
    version_conflict: { version_conflict: exampleConflict },
  },
};
