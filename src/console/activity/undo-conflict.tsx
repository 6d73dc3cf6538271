import type { LedgerRow } from "../client/types.ts";
import { Time } from "../parts/time.tsx";
import { whoOf } from "../parts/who.ts";
import { changeNumber } from "../texts/numbers.ts";
import { StockChange } from "./stock-change.tsx";

interface Props {
  readonly row: LedgerRow;
  readonly name: string;
  /** The changes after the row, newest first. */
  readonly since: readonly LedgerRow[];
}

/** Shows what an undo would overwrite. */
export function UndoConflict({ row, name, since }: Props) {
  return (
    <div class="stack" role="alert">
      <p>
        <bdi>
          <strong>{name}</strong>
        </bdi>{" "}
        has changed since then. Nothing has been undone yet.
      </p>
      <ul class="undo-since">
        {since.map((later) => (
          <li key={later.seq}>
            <StockChange before={later.before} after={later.after} />
            <div class="small muted">
              <bdi>{whoOf(later)}</bdi>, <Time at={later.at} />
              {later.reason !== null && (
                <>
                  : <bdi>{later.reason}</bdi>
                </>
              )}
            </div>
          </li>
        ))}
      </ul>
      <p>
        Undoing change {changeNumber(row.seq)} anyway replaces the current stock:{" "}
        <StockChange before={since[0]!.after} after={row.before} />
      </p>
    </div>
  );
}
