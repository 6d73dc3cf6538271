import { useSignal } from "@preact/signals";
import { announce } from "../announcements.ts";
import { ApiError, messageOf, request } from "../api.ts";
import { capitalized } from "../parts/capitalized.ts";
import { Dialog } from "../parts/dialog.tsx";
import { changeNumber, formatCount } from "../parts/numbers.ts";
import { findPetName } from "../pet-names.ts";
import { reasonCharactersMax } from "../stock/reasons.ts";
import { showSuccess } from "../toasts.ts";
import type { LedgerRow } from "../types.ts";
import { StockChange } from "./stock-change.tsx";
import { UndoConflict } from "./undo-conflict.tsx";

interface Props {
  /** Changes the stock of an existing pet. */
  readonly row: LedgerRow;
  readonly close: () => void;
}

/** Asks before a change is undone. If the entry changed since, it shows how, and asks again. */
export function UndoDialog({ row, close }: Props) {
  const reason = useSignal("");
  const error = useSignal("");
  const isSending = useSignal(false);
  const since = useSignal<readonly LedgerRow[]>([]);
  const name = findPetName(row.petId) ?? `pet ${row.petId}`;
  const { quantity, status } = row.before!;
  const isConflict = since.value.length > 0;
  /** The person decides again about a change that the dialog does not show yet. */
  async function hasNewer(): Promise<boolean> {
    const changes = await listSince(row);
    if (changes[0]?.seq === since.value[0]?.seq) return false;
    since.value = changes;
    return true;
  }
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (isSending.value) return;
    isSending.value = true;
    error.value = "";
    try {
      if (isConflict && (await hasNewer())) return;
      await sendUndo(row, reason.value.trim(), isConflict);
      const text = `${name} is back at ${formatCount(quantity)}, ${capitalized(status)}`;
      announce(`Undone. ${text}`);
      showSuccess(text);
      close();
    } catch (failure) {
      const changes = isConflictError(failure) ? await listSince(row).catch(() => []) : [];
      if (changes.length > 0) since.value = changes;
      else error.value = messageOf(failure);
    } finally {
      isSending.value = false;
    }
  }
  return (
    <Dialog title={`Undo change ${changeNumber(row.seq)}`} close={close} isWide={isConflict}>
      <form class="stack" onSubmit={submit}>
        {isConflict ? (
          <UndoConflict row={row} name={name} since={since.value} />
        ) : (
          <>
            <p>
              <bdi>
                <strong>{name}</strong>
              </bdi>
              : <StockChange before={row.after} after={row.before} />
            </p>
            <p class="muted small">The ledger keeps both changes, so this can be undone as well.</p>
          </>
        )}
        <div class="field">
          <label for="undo-reason">Reason (optional)</label>
          <input
            id="undo-reason"
            class="input"
            maxLength={reasonCharactersMax}
            autocomplete="off"
            value={reason.value}
            onInput={(event) => {
              reason.value = event.currentTarget.value;
            }}
          />
        </div>
        <p class="field-error" role="alert">
          {error.value}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={close}>
            {isConflict ? "Keep the stock as it is" : "Cancel"}
          </button>
          <button type="submit" class={`button ${isConflict ? "danger" : "primary"}`}>
            {isConflict ? `Set it to ${formatCount(quantity)}, ${capitalized(status)}` : "Undo"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function sendUndo(row: LedgerRow, reason: string, isForced: boolean): Promise<LedgerRow> {
  return request<LedgerRow>(`/changes/${row.seq}/undo`, {
    method: "POST",
    body: { ...(reason === "" ? {} : { reason }), ...(isForced ? { force: true } : {}) },
  });
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
