import { useSignal } from "@preact/signals";
import type { LedgerRow } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { causeName } from "../parts/causes.ts";
import { Icon } from "../parts/icon.tsx";
import { PetName } from "../parts/pet-name.tsx";
import { Time } from "../parts/time.tsx";
import { whoOf } from "../parts/who.ts";
import { changeNumber } from "../texts/numbers.ts";
import { StockChange } from "./stock-change.tsx";
import { UndoDialog } from "./undo-dialog.tsx";

interface Props {
  /** What the rows are, for screen readers. */
  readonly caption: string;
  readonly rows: readonly LedgerRow[];
  /** Rows after this one are new, and marked for a moment. */
  readonly newAfter: number;
  /** False for the history of one pet. */
  readonly hasPets?: boolean;
  /** Adds links to the whole inventory at that moment. */
  readonly hasMoments?: boolean;
}

/** Changes with all that the ledger knows about them. */
export function ChangeTable(props: Props) {
  const { caption, rows, newAfter, hasPets = true, hasMoments = false } = props;
  const undoing = useSignal<LedgerRow | undefined>(undefined);
  return (
    <>
      <table class="table changes">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">When</th>
            {hasPets && <th scope="col">Pet</th>}
            <th scope="col">Change</th>
            <th scope="col">Who</th>
            <th scope="col">Reason</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.seq} class={row.seq > newAfter ? "is-changed" : ""} data-seq={row.seq}>
              <td class="change-when">
                <Time at={row.at} />
                <div class="small muted">
                  {hasMoments ? (
                    <a href={hrefOf(`/history/moment?at=${row.seq}`)} title="Inventory then">
                      {changeNumber(row.seq)}
                    </a>
                  ) : (
                    changeNumber(row.seq)
                  )}
                </div>
              </td>
              {hasPets && (
                <td class="change-pet">
                  <PetName petId={row.petId} />
                </td>
              )}
              <td class="change-what">
                <StockChange before={row.before} after={row.after} />
              </td>
              <td class="change-who">
                <bdi title={row.keyId ?? undefined}>{whoOf(row)}</bdi>
                <div class="small muted">{causeName(row.cause)}</div>
              </td>
              <td class="change-why">{row.reason !== null && <bdi>{row.reason}</bdi>}</td>
              <td class="change-actions">
                {isUndoable(row) && (
                  <button
                    type="button"
                    class="button small quiet"
                    aria-label={`Undo change ${changeNumber(row.seq)}`}
                    onClick={() => {
                      undoing.value = row;
                    }}
                  >
                    <Icon name="undo" />
                    Undo
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {undoing.value && (
        <UndoDialog
          row={undoing.value}
          close={() => {
            undoing.value = undefined;
          }}
        />
      )}
    </>
  );
}

/** A new pet has no earlier stock, and the details of a removed one are gone. */
function isUndoable({ before, after }: LedgerRow): boolean {
  return before !== null && after !== null;
}
