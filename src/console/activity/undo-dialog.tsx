import { useSignal } from "@preact/signals";
import { ApiError, request } from "../client/api.ts";
import { findPetName } from "../client/pet-names.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { FormDialog } from "../parts/dialog-form.tsx";
import { ReasonField } from "../parts/fields.tsx";
import { Name } from "../parts/names.tsx";
import { whoOf } from "../parts/origins.ts";
import { Time } from "../parts/time.tsx";
import { capitalized, changeNumber, formatCount } from "../texts/formats.ts";
import { StockChange } from "./stock-change.tsx";

interface Props {
  /** Changes the stock of an existing pet. */
  readonly row: LedgerRow;
  readonly close: () => void;
}

/** Asks before a change is undone. If the entry changed since, it shows how, and asks again. */
export function UndoDialog({ row, close }: Props) {
  const since = useSignal<readonly LedgerRow[]>([]);
  const name = findPetName(row.petId) ?? `pet ${row.petId}`;
  const stock = `${formatCount(row.before!.quantity)}, ${capitalized(row.before!.status)}`;
  const isConflict = since.value.length > 0;
  /** The person decides again about a change that the dialog does not show yet. */
  async function hasNewer(): Promise<boolean> {
    const changes = await listSince(row);
    if (changes[0]?.seq === since.value[0]?.seq) return false;
    since.value = changes;
    return true;
  }
  async function submit(form: FormData): Promise<void> {
    if (isConflict && (await hasNewer())) return;
    try {
      const reason = String(form.get("reason")).trim() || undefined;
      const body = { reason, force: isConflict || undefined };
      await request(`/changes/${row.seq}/undo`, { method: "POST", body });
    } catch (failure) {
      const changes = isConflictError(failure) ? await listSince(row).catch(() => []) : [];
      if (changes.length === 0) throw failure;
      since.value = changes;
      return;
    }
    const text = `${name} is back at ${stock}`;
    announce(`Undone. ${text}`);
    showSuccess(text);
    close();
  }
  return (
    <FormDialog
      title={`Undo change ${changeNumber(row.seq)}`}
      close={close}
      isWide={isConflict}
      submit={submit}
      action={isConflict ? `Set it to ${stock}` : "Undo"}
      isDangerous={isConflict}
      cancelText={isConflict ? "Keep the stock as it is" : "Cancel"}
    >
      {isConflict ? (
        <UndoConflict row={row} name={name} since={since.value} />
      ) : (
        <>
          <p>
            <Name>{name}</Name>: <StockChange before={row.after} after={row.before} />
          </p>
          <p class="muted small">The ledger keeps both changes, so this can be undone as well.</p>
        </>
      )}
      <ReasonField />
    </FormDialog>
  );
}

function isConflictError(error: unknown): boolean {
  return error instanceof ApiError && error.code === "version_conflict";
}

/** How many later changes a conflict shows. */
const sinceMax = 20;

function listSince({ petId, seq }: LedgerRow): Promise<readonly LedgerRow[]> {
  const path = `/stock/${petId}/history?after=${seq}&limit=${sinceMax}`;
  return request<readonly LedgerRow[]>(path);
}

interface ConflictProps {
  readonly row: LedgerRow;
  readonly name: string;
  /** The changes after the row, newest first. */
  readonly since: readonly LedgerRow[];
}

/** Shows what an undo would overwrite. */
function UndoConflict({ row, name, since }: ConflictProps) {
  return (
    <div class="stack" role="alert">
      <p>
        <Name>{name}</Name> has changed since then. Nothing has been undone yet.
      </p>
      <ul class="stack undo-since">
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
