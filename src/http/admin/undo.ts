import { sessionPattern, sessionRule } from "../../domain/catalogue/assistant-sessions.ts";
import type { UndoRun } from "../../domain/catalogue/import-runs.ts";
import { nothingFound, petsListedMax, undoneJson } from "../../domain/catalogue/undo-together.ts";
import { undoRow } from "../../domain/history/undo.ts";
import { petNotFound } from "../../domain/ledger/inventory.ts";
import { ledgerRowJson, seqMax, type Unit } from "../../domain/ledger/ledger.ts";
import { InvalidField, invalidRequest, ServiceError } from "../../domain/running/errors.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import { isReason, reasonRule } from "../../domain/values/texts.ts";
import { json, type Parameter } from "../api/contract/contract.ts";
import { exampleRequestId, exampleRow } from "../api/contract/examples.ts";
import * as schema from "../api/contract/schema.ts";
import { jsonBody } from "../api/declaration.ts";
import { cause, key, since } from "../api/feed.ts";
import { until } from "../api/history.ts";
import {
  dryRun,
  integerParameter,
  patternParameter,
  queryParameter,
  readParameter,
  readParameters,
  seqBounds,
  tries,
} from "../api/parameters.ts";
import { bodyMessages, type Fields, textOf } from "../messages/fields.ts";
import { replayedHeaders } from "../messages/headers.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call, ChangeCall } from "../pipeline/operation.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { conflictMessage, exampleConflict } from "./conflicts.ts";
import { exampleUndo } from "./contract/stock-schemas.ts";
import { flagField, textField } from "./fields.ts";

const rowNumberRule = `Path parameter 'seq' must be an integer from 1 to ${seqMax}.`;

const seqParameter: Parameter = {
  name: "seq",
  in: "path",
  description: "The number of the ledger row.",
  schema: schema.boundedInteger(1, Number.MAX_SAFE_INTEGER),
  example: 1207,
  messages: { invalid_seq: rowNumberRule },
};

/** Undoes one row of the ledger, through the committer: the list and the feed show it at once. */
const undoChange: AdminDeclaration = {
  method: "POST",
  path: "/changes/{seq}/undo",
  body: jsonBody,
  kind: "stock",
  contract: {
    summary: "Undo a change",
    description:
      "Undoes a ledger row: adds a new row that gives the pet the quantity and status from before. If the pet has changed since, nothing is changed, unless `force` is true. The message then says what is stored now and who changed it. A row that added or removed a pet cannot be undone.",
    parameters: [seqParameter],
    body: json("The reason, and whether to overwrite later changes.", "Undo", { isOptional: true }),
    success: {
      200: json("The new row.", "LedgerRow", {
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
      }),
    },
    messages: {
      invalid_request: {
        ...bodyMessages,
        added_pet: undoOfCreation(31, 7n),
        removed_pet: undoOfRemoval(1207, 7n),
      },
      not_found: { not_found: "There is no ledger row 1300.", pet_not_found: petNotFound },
      version_conflict: { version_conflict: exampleConflict },
    },
  },
  async run(context, call, fields) {
    const seq = readRowNumber(fields);
    const { force, reason } = readOptions(fields);
    const idempotency = call.identify(JSON.stringify([force, reason]));
    const keptMs = context.idempotencyReachMs();
    const outcome = await undoRow(partsOf(context, call), seq, {
      ...{ force, reason, actor: call.actor },
      idempotency: idempotency && { ...idempotency, keptMs },
    });
    if (outcome.kind === "undone") {
      const reply = { status: 200, body: ledgerRowJson(outcome.row) };
      return outcome.isReplayed ? { ...reply, headers: replayedHeaders } : reply;
    }
    if (outcome.kind === "changed_since") {
      throw new ServiceError("version_conflict", conflictMessage(outcome.latest));
    }
    const refusal = outcome.kind === "creates_entry" ? undoOfCreation : undoOfRemoval;
    throw invalidRequest(refusal(seq, outcome.petId));
  },
};

function undoOfCreation(seq: number, petId: bigint): string {
  return `Row ${seq} added pet ${petId}, so there is no earlier stock. Remove the pet instead.`;
}

function undoOfRemoval(seq: number, petId: bigint): string {
  return `Row ${seq} removed pet ${petId}. Create the pet again instead.`;
}

function readRowNumber(fields: Fields): number {
  const text = textOf(fields, "seq") ?? "";
  const seq = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seq <= seqMax)) throw invalidRequest(rowNumberRule);
  return seq;
}

function partsOf({ store, committer }: Context, { request, trace }: Call) {
  const submit = (unit: Unit) => committer.submit(unit, request.signal, trace);
  return { inventory: store.inventory, history: store.history, submit };
}

function readOptions(fields: Fields) {
  const reason = textField(fields, "reason") || undefined;
  if (!isReason(reason ?? "")) throw new InvalidField("reason", reasonRule);
  return { force: flagField(fields, "force") ?? false, reason };
}

const requestParameter = patternParameter(
  "request",
  "^[0-9A-Za-z_-]{1,64}$",
  "must have 1 to 64 letters, digits, hyphens or underscores",
  "Only changes of the request with this ID.",
  exampleRequestId,
);
export const sessionParameter = patternParameter(
  "session",
  sessionPattern,
  sessionRule,
  "The session of an assistant, as its first change returned it. The reasons of its changes end with it.",
  "ses_0Wn4pZ8sT1kQx_mi2wq5s1_a3Fz9K",
);
const petParameter = queryParameter({
  name: "pet",
  description: "Only changes of the pet with this ID.",
  schema: schema.int64("The ID of a pet."),
  example: 7,
  rule: "must be a 64-bit integer",
  parse: parseInt64,
});
const asOf = integerParameter(
  "asOf",
  seqBounds,
  "The `asOf` of a dry run. Later changes are not undone, whatever the filters say.",
  1207,
);

const examplePet = { petId: 7, before: exampleRow.after, after: exampleRow.before, why: null };

export const undoSchemas: Readonly<Record<string, schema.Schema>> = {
  UndonePet: schema.responseObject(
    "What an undo does with the stock of one pet.",
    {
      petId: schema.int64("The ID of the pet."),
      before: schema.nullable(
        "Stock",
        "The stock without the undo, or null if the pet was removed.",
      ),
      after: schema.nullable("Stock", "The stock with the undo, or null if the pet is left out."),
      why: schema.textOrNull("Why the pet is left out or needs `force`, or null. For people."),
    },
    examplePet,
  ),
  Undone: schema.responseObject(
    "What was undone, or what a dry run found.",
    {
      asOf: schema.seq("The last change that was looked at. Send it with the undo."),
      rows: schema.number("How many changes were found."),
      undone: schema.number("How many pets get a new row in the ledger."),
      changed: schema.number("How many pets were changed since, and are undone only with `force`."),
      leftOut: schema.number("How many pets cannot be undone."),
      pets: schema.listOf(
        "UndonePet",
        `The first ${petsListedMax} pets. Those that are changed or left out come first.`,
      ),
    },
    { asOf: 1207, rows: 1, undone: 1, changed: 0, leftOut: 0, pets: [examplePet] },
  ),
};

const filters = {
  requestId: requestParameter,
  session: sessionParameter,
  petId: petParameter,
  from: since,
  to: until,
  keyId: key,
  cause,
};
const filterList = Object.values(filters);
const filterNames = filterList.map(({ name }) => `'${name}'`).join(", ");
const filterRequired = `One of the query parameters ${filterNames} is required.`;

const undoChanges: AdminDeclaration = {
  method: "POST",
  path: "/changes/undo",
  body: jsonBody,
  isLong: true,
  kind: "making",
  takesPlace: true,
  contract: {
    summary: "Undo several changes",
    description: `Undoes all changes that match the filters, such as those of one request (a batch, a delivery, an import) or those that one key made between two times. All new rows are stored, or none.

From the quantity of each pet, the sum of these changes is subtracted. Where nothing else has changed the pet since, this gives the earlier quantity and status. Pets that were changed since are left out, unless \`force\` is true: their later changes are kept. Pets whose changes were undone are left out, so a request that is sent twice does not undo twice.

Send a dry run first. Then send the same with its \`asOf\`, so that nothing is undone that was stored in the meantime. Imports and undos of several changes share two places in each instance, and keys take turns.`,
    parameters: [...filterList, dryRun, asOf],
    body: json("The reason, and whether to include pets that were changed since.", "Undo", {
      isOptional: true,
    }),
    success: { 200: json("What was undone, or what a dry run found.", "Undone") },
    messages: {
      invalid_request: { ...bodyMessages, filter_required: filterRequired },
      not_found: { not_found: nothingFound },
    },
  },
  tries,
  async run(context, call, fields) {
    const selection = readParameters(fields, filters);
    if (Object.values(selection).every((one) => one === undefined)) {
      throw invalidRequest(filterRequired);
    }
    const found = { ...selection, asOf: readParameter(fields, asOf) };
    return runUndo(context, call, { ...found, ...readOptions(fields) });
  },
};

/** Undoes the selected changes, in a process of its own. */
export async function runUndo(
  { admin }: Pick<Context, "admin">,
  { actor, isDryRun, request }: ChangeCall,
  run: Omit<UndoRun, "actor" | "isDryRun">,
): Promise<Reply> {
  const undone = await admin.work.undo({ ...run, actor, isDryRun }, request.signal);
  return { status: 200, body: undoneJson(undone) };
}

export const undoOperations = { undoChange, undoChanges };
