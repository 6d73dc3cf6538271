import { type Actor, commandLine } from "../audit/audit.ts";
import { reusedKey } from "../ledger/changes.ts";
import { epochOf } from "../ledger/epochs.ts";
import { petNotFound } from "../ledger/inventory.ts";
import type { NamedRow, Outcome, Unit } from "../ledger/ledger.ts";
import type { InventoryStore, LedgerParts } from "../ledger/store.ts";
import { InvalidField, ServiceError } from "../running/errors.ts";
import { isReason, reasonRule } from "../values/texts.ts";

/** What became of an undo. A refusal changes nothing. */
export type UndoOutcome =
  | { readonly kind: "undone"; readonly row: NamedRow; readonly isReplayed?: boolean | undefined }
  /** What a dry run would store. */
  | ({ readonly kind: "possible" } & Pick<NamedRow, "petId" | "before" | "after">)
  /** The row created the entry, so there is no earlier stock. */
  | { readonly kind: "creates_entry"; readonly petId: bigint }
  /** The row removed the pet, whose name and other details are gone. */
  | { readonly kind: "removes_entry"; readonly petId: bigint }
  /** Another row has changed the entry since. `latest` is the last one. */
  | { readonly kind: "changed_since"; readonly latest: NamedRow };

export interface UndoOptions {
  /** Also undoes a row that is no longer the last one of its pet. */
  readonly force?: boolean | undefined;
  readonly reason?: string | undefined;
  /** Stores nothing. */
  readonly isDryRun?: boolean | undefined;
  /** Who undoes the row. A command unless given. */
  readonly actor?: Actor | undefined;
  /** Set if the client may send the request again. */
  readonly idempotency?: Unit["idempotency"];
}

/** What an undo needs of a store. `submit` stores a unit: at once, or with others in a group. */
export interface UndoStore extends Pick<LedgerParts, "history"> {
  readonly inventory: Pick<InventoryStore, "listEpochs">;
  submit(unit: Unit): Promise<Outcome>;
}

/** The store of a command, which stores each unit at once. */
export function undoStore({
  inventory,
  history,
}: Pick<LedgerParts, "inventory" | "history">): UndoStore {
  return {
    inventory,
    history,
    submit: async (unit) => (await inventory.commit([unit])).outcomes[0]!,
  };
}

/**
 * Gives a pet the quantity and status that it had before a ledger row, as a new row. The ledger only
 * grows, so an undo can itself be undone. Unless `force` is true, the row must still be the last one
 * of its pet when the new row is stored.
 */
export async function undoRow(
  { inventory, history, submit }: UndoStore,
  seq: number,
  options: UndoOptions = {},
): Promise<UndoOutcome> {
  const { force = false, reason = `undo of ${seq}`, actor = commandLine, isDryRun } = options;
  if (!isReason(reason)) throw new InvalidField("reason", reasonRule);
  // Read before the row. If the store is replaced in between, the epoch of the row no longer matches.
  const epoch = epochOf(await inventory.listEpochs(), seq);
  const [row] = await history.listRows({ after: seq - 1, upTo: seq }, 1);
  if (!row) throw new ServiceError("not_found", `There is no ledger row ${seq}.`);
  const { petId, before, after } = row;
  if (!after) return { kind: "removes_entry", petId };
  if (!before) return { kind: "creates_entry", petId };
  if (isDryRun) {
    const found = await history.findEntry(petId);
    if (!found) throw new ServiceError("not_found", petNotFound);
    const { version, quantity, status } = found.entry;
    const [latest] = await history.petRows(petId, version, 1);
    if (!force && version !== seq) return { kind: "changed_since", latest: latest! };
    return { kind: "possible", petId, before: { quantity, status }, after: before };
  }
  const expected = force ? undefined : [{ seq, epoch }];
  const { quantity: amount, status } = before;
  const outcome = await submit({
    changes: [{ petId, kind: "set", amount, status, expected, reason }],
    cause: "undo",
    keyId: actor.keyId,
    requestId: actor.requestId,
    idempotency: options.idempotency,
  });
  if (outcome.kind === "stored") {
    const { entries, isReplayed } = outcome;
    const added = await history.petRows(petId, entries[0]!.version, 1);
    return { kind: "undone", row: added[0]!, isReplayed };
  }
  if (outcome.reason === "key_reused") throw reusedKey();
  if (!outcome.current) throw new ServiceError("not_found", petNotFound);
  const [latest] = await history.petRows(petId, outcome.current.version, 1);
  return { kind: "changed_since", latest: latest! };
}
