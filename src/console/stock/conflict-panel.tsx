import type { LedgerRow } from "../client/types.ts";
import { Button } from "../parts/button.tsx";
import { Name } from "../parts/names.tsx";
import { whoOf } from "../parts/origins.ts";
import { StatusBadge } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { formatCount } from "../texts/formats.ts";
import { type Editing, keepMine, takeTheirs } from "./editing.ts";

interface Props {
  readonly edit: Editing;
  readonly theirs: LedgerRow;
  /** In pixels, below the row. Undefined inside a sheet. */
  readonly top?: number;
}

/** Shows both changes and who made the other one. Nothing is saved before the person decides. */
export function ConflictPanel({ edit, theirs, top }: Props) {
  const who = whoOf(theirs);
  const isRemoved = theirs.after === null;
  return (
    <section
      class={`conflict ${top === undefined ? "" : "popup"}`}
      style={top === undefined ? {} : { top: `${top}px` }}
      role="alertdialog"
      aria-label="Somebody else changed this entry"
      onKeyDown={(event) => {
        if (event.key === "Escape") takeTheirs();
      }}
    >
      <p class="conflict-title">
        <Name>{who}</Name> {isRemoved ? "removed" : "changed"} this entry at <Time at={theirs.at} />
        {theirs.reason && (
          <>
            : “<bdi>{theirs.reason}</bdi>”
          </>
        )}
      </p>
      <dl class="conflict-sides">
        <div>
          <dt class="hint">Mine</dt>
          <dd>
            <span class="stat">{edit.quantity}</span> <StatusBadge status={edit.status} />
          </dd>
        </div>
        <div>
          <dt class="hint">Theirs</dt>
          <dd>
            {theirs.after ? (
              <>
                <span class="stat">{formatCount(theirs.after.quantity)}</span>{" "}
                <StatusBadge status={theirs.after.status} />
              </>
            ) : (
              "Removed"
            )}
          </dd>
        </div>
      </dl>
      <div class="row">
        {!isRemoved && (
          <Button kind="primary" isSmall onClick={keepMine}>
            Save mine
          </Button>
        )}
        <Button isSmall onClick={takeTheirs}>
          {isRemoved ? "Close" : "Keep theirs"}
        </Button>
      </div>
    </section>
  );
}
