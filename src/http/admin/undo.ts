import {
  changedMeanwhile,
  marks,
  nothingFound,
  petsListedMax,
  petsUndoneMax,
  type Selection,
  togetherJson,
  tooManyPets,
  undoTogether,
} from "../../domain/history/undo-together.ts";
import { parseCursor } from "../../domain/ledger/cursors.ts";
import type { Unit } from "../../domain/ledger/ledger.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { changeFields } from "../api/changes.ts";
import { exampleRequestId } from "../api/contract/examples.ts";
import { json } from "../api/contract/operation.ts";
import {
  choice,
  count,
  flag,
  int64,
  listOf,
  named,
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
  textField,
  timeField,
} from "./fields.ts";
import { type AdminDeclaration, actorOf } from "./operation.ts";

const idPattern = "^[0-9A-Za-z_-]{1,64}$";
const markNames = Object.keys(marks);
const examplePet = {
  ...{ petId: 7, mark: "unchanged", why: marks.unchanged },
  from: { quantity: 50, status: "available" },
  to: { quantity: 5, status: "available" },
};
const exampleCounts = { ...Object.fromEntries(markNames.map((mark) => [mark, 0])), unchanged: 1 };
const exampleUndone = {
  ...{ isDryRun: true, asOf: "5f3b2c1e-8a4d-4f0b-9c6e-2d7a1b0e4c93-1207", rows: 1, undone: 1 },
  ...{ counts: exampleCounts, pets: [examplePet] },
};
const exampleRequest = { requestId: exampleRequestId, dryRun: true };

export const undoSchemas: Readonly<Record<string, Schema>> = {
  UndoRequest: requestObject(
    "Which changes to undo: those of one request, or those of one key between two times.",
    {
      requestId: { ...text("The `requestId` of the changes."), pattern: idPattern },
      keyId: { ...text("The ID of the key. Needs `from` and `to`."), pattern: idPattern },
      from: time("With `keyId`: changes at this time or later."),
      to: time("With `keyId`: changes before this time."),
      dryRun: flag("If true, nothing is changed. False by default."),
      include: choice(["unchanged", "all"], "`all` includes pets that other changes followed."),
      asOf: {
        ...text("The `asOf` of a dry run. If a pet has changed after it, nothing is undone."),
        pattern: "^[0-9A-Za-z][0-9A-Za-z.-]*-[0-9]{1,16}$",
      },
      reason: { ...changeFields.reason, description: "Why the changes are undone." },
    },
    exampleRequest,
  ),
  UndonePet: responseObject(
    "What an undo does with the stock of one pet.",
    {
      petId: int64("The ID of the pet."),
      mark: text(`What becomes of the pet: ${markNames.map((mark) => `\`${mark}\``).join(", ")}.`),
      why: text("The same as a text for people."),
      from: nullable("Stock", "The stock without the undo, or null if the pet was removed."),
      to: nullable("Stock", "The stock with the undo, or null if the pet cannot be undone."),
    },
    examplePet,
  ),
  UndoCounts: responseObject(
    "How many pets have each mark.",
    Object.fromEntries(markNames.map((mark) => [mark, count("Pets with this mark.")])),
    exampleCounts,
  ),
  UndoneChanges: responseObject(
    "What was undone, or what a dry run found.",
    {
      isDryRun: flag("True if nothing was changed."),
      asOf: text("The end of the ledger that this includes. Send it with the undo."),
      rows: count("How many changes were found."),
      undone: count("How many pets get a new row in the ledger."),
      counts: named("UndoCounts", "How many pets have each mark."),
      pets: listOf("UndonePet", `The first ${petsListedMax} pets, by mark.`),
    },
    exampleUndone,
  ),
};

const oneSelection = "The body must have either 'requestId', or 'keyId' with 'from' and 'to'.";

const undoChanges: AdminDeclaration = {
  method: "POST",
  path: "/changes/undo",
  body: jsonBody,
  contract: {
    summary: "Undo several changes",
    description: `Undoes all changes of one request, such as a batch or an import, or those that one key made between two times. All new rows are stored, or none.

From the quantity of each pet, the sum of its selected changes is subtracted. Where nothing else has changed the pet since, this gives the earlier quantity and status. Pets that other changes followed are left out, unless \`include\` is \`all\`: their later changes are kept.

Send a dry run first. Then send the same with its \`asOf\`: if one of the pets has changed in the meantime, nothing is undone. So a request that is sent twice does not undo twice. One request can undo changes of up to ${petsUndoneMax.service.toLocaleString("en")} pets.`,
    body: json("Which changes to undo, and how.", "UndoRequest"),
    success: {
      200: json("What was undone, or what a dry run found.", "UndoneChanges", {
        examples: { dry_run: { summary: "A dry run", value: exampleUndone } },
      }),
    },
    messages: {
      invalid_request: {
        ...bodyMessages,
        one_selection: oneSelection,
        too_many: tooManyPets(petsUndoneMax.service, 1206),
      },
      not_found: { not_found: nothingFound },
      version_conflict: { version_conflict: changedMeanwhile },
    },
  },
  async handle({ store, committer, admin }, call) {
    const fields = await readFields(call);
    const { request, connections, trace } = call;
    const { signal } = request;
    const { inventory, history } = store;
    const options = {
      isDryRun: flagField(fields, "dryRun") ?? false,
      includesChanged: includeField(fields, "include") === "all",
      petsMax: petsUndoneMax.service,
      asOf: positionField(fields, "asOf"),
      reason: textField(fields, "reason") || undefined,
      actor: actorOf(call),
      signal,
    };
    const parts = {
      inventory,
      history,
      submit: (unit: Unit) => committer.submit(unit, signal, trace),
    };
    // An old request is far from the end of the ledger.
    connections.setIdleTimeout(request, 0);
    try {
      const undone = await undoTogether(parts, readSelection(fields), options);
      return { status: 200, body: togetherJson(undone) };
    } finally {
      connections.setIdleTimeout(request, admin.idleTimeoutSeconds);
    }
  },
};

const idField = fieldReader("must be an id", (value) =>
  typeof value === "string" && new RegExp(idPattern).test(value) ? value : undefined,
);
const includeField = fieldReader("must be unchanged or all", (value) =>
  value === "unchanged" || value === "all" ? value : undefined,
);
const positionField = fieldReader("must be the asOf of a dry run", (value) => {
  const { epoch, seq = 0 } = (typeof value === "string" && parseCursor(value)) || {};
  return epoch === undefined ? undefined : { epoch, seq };
});

function readSelection(fields: Fields): Selection {
  const [requestId, keyId] = [idField(fields, "requestId"), idField(fields, "keyId")];
  const [from, to] = [timeField(fields, "from"), timeField(fields, "to")];
  const isRequest = [keyId, from, to].every((one) => one === undefined);
  if (requestId !== undefined && isRequest) return { requestId };
  if (requestId === undefined && keyId !== undefined && from != null && to != null) {
    return { keyId, from, to };
  }
  throw new ServiceError("invalid_request", oneSelection);
}

export const undoOperations = { undoChanges };
