import { epochOf } from "./epochs.ts";
import { ServiceError } from "./errors.ts";
import { InvalidField } from "./invalid-field.ts";
import type { LedgerRow } from "./ledger.ts";
import { petNotFound } from "./pets.ts";
import type { NamedRow, Store } from "./ports.ts";
import { isReason, reasonRule } from "./reasons.ts";

/** What became of an undo. A refusal changes nothing. */
export type UndoOutcome =
  | { readonly kind: "undone"; readonly row: LedgerRow }
  /** The row created the entry, so there is no earlier stock. */
  | { readonly kind: "creates_entry"; readonly petId: bigint }
  /** Another row has changed the entry since. `latest` is the last one. */
  | { readonly kind: "changed_since"; readonly latest: NamedRow };

export interface UndoOptions {
  /** Also undoes a row that is no longer the last one of its pet. */
  readonly force?: boolean | undefined;
  readonly reason?: string | undefined;
}

/**
 * Gives a pet the quantity and status that it had before a ledger row, as a new row. The ledger only
 * grows, so an undo can itself be undone. Unless `force` is true, the row must still be the last one
 * of its pet when the new row is stored.
 */
export async function undoRow(
  { inventory, history }: Pick<Store, "inventory" | "history">,
  seq: number,
  { force = false, reason = `undo of ${seq}` }: UndoOptions = {},
): Promise<UndoOutcome> {
  if (!isReason(reason)) throw new InvalidField("reason", reasonRule);
  // Read before the row. If the store is replaced in between, the epoch of the row no longer matches.
  const epoch = epochOf(await inventory.listEpochs(), seq);
  const [row] = await history.listRows({ after: seq - 1, upTo: seq }, 1);
  if (!row) throw new ServiceError("not_found", `There is no ledger row ${seq}.`);
  const { petId, before } = row;
  if (!before) return { kind: "creates_entry", petId };
  const committed = await inventory.commit([
    {
      changes: [
        {
          petId,
          kind: "set",
          amount: before.quantity,
          status: before.status,
          expected: force ? undefined : [{ seq, epoch }],
          reason,
        },
      ],
      cause: "undo",
      keyId: null,
      requestId: null,
    },
  ]);
  const outcome = committed.outcomes[0]!;
  if (outcome.kind === "stored") return { kind: "undone", row: committed.rows[0]! };
  if (!outcome.current) throw new ServiceError("not_found", petNotFound);
  const [latest] = await history.petRows(petId, outcome.current.version, 1);
  return { kind: "changed_since", latest: latest! };
}
