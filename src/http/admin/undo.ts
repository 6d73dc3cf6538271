import {
  type Mark,
  marks,
  petsListedMax,
  petsUndoneMax,
  type Selection,
  type TogetherOutcome,
} from "../../domain/history/undo-together.ts";
import { parseCursor } from "../../domain/ledger/cursors.ts";
import type { Position } from "../../domain/ledger/epochs.ts";
import { causes } from "../../domain/ledger/ledger.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { isReason, reasonRule } from "../../domain/values/texts.ts";
import { readId } from "../api/change-list.ts";
import { changeFields } from "../api/changes.ts";
import { exampleRequestId } from "../api/contract/examples.ts";
import { json } from "../api/contract/operation.ts";
import {
  choice,
  count,
  flag,
  int64,
  listOf,
  nullable,
  requestObject,
  responseObject,
  type Schema,
  text,
  time,
} from "../api/contract/schema.ts";
import { jsonBody } from "../api/operation.ts";
import {
  bodyMessages,
  type Fields,
  fieldReader,
  flagField,
  readFields,
  timeField,
} from "./fields.ts";
import { type AdminDeclaration, actorOf } from "./operation.ts";

const asOf = "5f3b2c1e-8a4d-4f0b-9c6e-2d7a1b0e4c93-1207";
const stockOf = (quantity: number) => ({ quantity, status: "available" });
const examplePets = [
  { petId: 8, mark: "changed", from: stockOf(48), to: stockOf(3) },
  { petId: 7, mark: "unchanged", from: stockOf(50), to: stockOf(5) },
];
const noCounts = Object.fromEntries(marks.map((mark) => [mark, 0]));
const exampleUndone = {
  ...{ kind: "previewed", asOf, rows: 2, undone: 1 },
  counts: { ...noCounts, changed: 1, unchanged: 1 },
  pets: examplePets,
};
const exampleRequest = { requestId: exampleRequestId, dryRun: true };

const markTexts: Readonly<Record<Mark, string>> = {
  changed: "other changes followed, so it is only undone with `include` `all`",
  negative: "there is too little stock to take the changes back",
  undone: "an undo followed",
  created: "the changes added it; remove the pet instead",
  removed: "it was removed",
  unchanged: "nothing else has changed it since",
  same: "the changes left its stock as it was",
};
const markText = marks.map((mark) => `\`${mark}\`: ${markTexts[mark]}`).join(". ");

export const undoSchemas: Readonly<Record<string, Schema>> = {
  UndoRequest: requestObject(
    "Which changes to undo: those of one request, or those of one key between two times.",
    {
      requestId: text("The `requestId` of the changes."),
      keyId: text("The ID of the key that made the changes. Needs `from` and `to`."),
      from: time("With `keyId`: changes at this time or later."),
      to: time("With `keyId`: changes before this time."),
      petId: int64("With `keyId`: only changes of this pet."),
      cause: choice(causes, "With `keyId`: only changes with this cause."),
      dryRun: flag("If true, nothing is changed. False by default."),
      include: choice(
        ["unchanged", "all"],
        "`all` also takes the changes back where other changes followed. `unchanged` by default.",
      ),
      asOf: text("The `asOf` of a dry run. If a pet has changed after it, nothing is undone."),
      reason: { ...changeFields.reason, description: "Why the changes are undone." },
    },
    exampleRequest,
  ),
  UndonePet: responseObject(
    "What an undo does with the stock of one pet.",
    {
      petId: int64("The ID of the pet."),
      mark: text(`Why the pet is undone or not. ${markText}. Later versions can add marks.`),
      from: nullable("Stock", "The stock without the undo, or null if the pet was removed."),
      to: nullable("Stock", "The stock with the undo, or null if the pet cannot be undone."),
    },
    examplePets[0]!,
  ),
  UndoneChanges: responseObject(
    "What was undone, or what a dry run found.",
    {
      kind: text("`undone`, or `previewed` after a dry run."),
      asOf: text("The end of the ledger that this includes. Send it with the undo."),
      rows: count("How many changes were found."),
      undone: count("How many pets get a new row in the ledger."),
      counts: {
        type: "object",
        description: "How many pets have each mark.",
        required: marks,
        properties: Object.fromEntries(marks.map((mark) => [mark, count(`\`${mark}\`.`)])),
      },
      pets: {
        ...listOf("UndonePet", `The first ${petsListedMax} pets, those that are left out first.`),
        maxItems: petsListedMax,
      },
    },
    exampleUndone,
  ),
};

const oneSelection =
  "The body must have either 'requestId', or 'keyId' with 'from' and 'to'. Only 'keyId' can have 'petId' and 'cause'.";
const notFound = "No change was found.";
const changedSince =
  "A pet has changed in the meantime. Nothing was undone. Start again with a dry run.";

function tooMany(before: number): string {
  const pets = petsUndoneMax.toLocaleString("en");
  return `The changes concern more than ${pets} pets, which is too many for one undo. Import the stock of snapshot ${before} instead: petstore snapshot ${before} --json | petstore pets import - --format ndjson`;
}

/** Undoes many rows, in a process of its own. */
const undoChanges: AdminDeclaration = {
  method: "POST",
  path: "/changes/undo",
  body: jsonBody,
  contract: {
    summary: "Undo several changes",
    description: `Undoes all changes of one request, such as a batch or an import, or the changes that one key made between two times. All new rows are stored, or none.

From the quantity of each pet, the sum of the selected changes is subtracted. If nothing else has changed the pet since, it gets its earlier quantity and status. Pets that other changes followed are left out, unless \`include\` is \`all\`: the later changes are kept then. A pet whose quantity would be negative is left out in any case, and so are pets that the changes added or removed.

Send \`dryRun\` first. It shows what would be undone. Then send the same with its \`asOf\`: if one of the pets has changed in the meantime, nothing is undone, so a request that is sent twice cannot undo twice. One undo can concern up to ${petsUndoneMax.toLocaleString("en")} pets.`,
    body: json("Which changes to undo, and how.", "UndoRequest", {
      examples: { preview: { summary: "A dry run", value: exampleRequest } },
    }),
    success: {
      200: json("What was undone, or what a dry run found.", "UndoneChanges", {
        examples: { preview: { summary: "A dry run", value: exampleUndone } },
      }),
    },
    messages: {
      invalid_request: { ...bodyMessages, one_selection: oneSelection, too_many: tooMany(1206) },
      not_found: { not_found: notFound },
      version_conflict: { version_conflict: changedSince },
    },
    errors: ["already_running"],
  },
  async handle({ admin }, call) {
    const fields = await readFields(call);
    const { request, connections } = call;
    const selection = readSelection(fields);
    const options = {
      isDryRun: flagField(fields, "dryRun") ?? false,
      includesChanged: includeField(fields, "include") === "all",
      asOf: positionField(fields, "asOf"),
      reason: reasonField(fields, "reason") || undefined,
      actor: actorOf(call),
    };
    connections.setIdleTimeout(request, 0);
    try {
      const body = await admin.undos.run({ selection, options }, request.signal);
      const outcome: TogetherOutcome = JSON.parse(body);
      if (outcome.kind === "not_found") throw new ServiceError("not_found", notFound);
      if (outcome.kind === "too_many") {
        throw new ServiceError("invalid_request", tooMany(outcome.before));
      }
      if (outcome.kind === "changed_since")
        throw new ServiceError("version_conflict", changedSince);
      return { status: 200, body };
    } finally {
      connections.setIdleTimeout(request, admin.idleTimeoutSeconds);
    }
  },
};

/** The ids are arguments of a command, so they have no other characters. */
const idField = fieldReader("must be an id", (value) =>
  typeof value === "string" && /^[0-9A-Za-z_-]{1,64}$/.test(value) ? value : undefined,
);
const petIdField = fieldReader("must be a 64-bit integer", readId);
const causeField = fieldReader(`must be one of ${causes.join(", ")}`, (value) =>
  causes.find((cause) => cause === value),
);
const includeField = fieldReader("must be unchanged or all", (value) =>
  value === "unchanged" || value === "all" ? value : undefined,
);
const reasonField = fieldReader(reasonRule, (value) =>
  typeof value === "string" && isReason(value) ? value : undefined,
);
const positionField = fieldReader("must be the asOf of a dry run", (value) => {
  const { epoch, seq } = (typeof value === "string" && parseCursor(value)) || {};
  return epoch === undefined || seq === undefined ? undefined : ({ epoch, seq } as Position);
});

function readSelection(fields: Fields): Selection {
  const [requestId, keyId] = [idField(fields, "requestId"), idField(fields, "keyId")];
  const [from, to] = [timeField(fields, "from"), timeField(fields, "to")];
  const [petId, cause] = [petIdField(fields, "petId"), causeField(fields, "cause")];
  if (
    requestId !== undefined &&
    [keyId, from, to, petId, cause].every((one) => one === undefined)
  ) {
    return { requestId };
  }
  if (requestId === undefined && keyId !== undefined && from != null && to != null) {
    return { keyId, from, to, petId, cause };
  }
  throw new ServiceError("invalid_request", oneSelection);
}

export const undoOperations = { undoChanges };
