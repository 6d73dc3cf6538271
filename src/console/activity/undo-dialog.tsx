import { useSignal } from "@preact/signals";
import { ApiError, request } from "../client/api.ts";
import { findPetName } from "../client/pet-names.ts";
import type { LedgerRow } from "../client/types.ts";
import { announce } from "../page/announcements.ts";
import { showSuccess } from "../page/toasts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { reasonCharactersMax } from "../parts/reasons.ts";
import { useSubmission } from "../parts/submission.ts";
import { TextField } from "../parts/text-field.tsx";
import { capitalized } from "../texts/capitalized.ts";
import { changeNumber, formatCount } from "../texts/numbers.ts";
import { StockChange } from "./stock-change.tsx";
import { UndoConflict } from "./undo-conflict.tsx";

interface Props {
  /** Changes the stock of an existing pet. */
  readonly row: LedgerRow;
  readonly close: () => void;
}

/** Asks before a change is undone. If the entry changed since, it shows how, and asks again. */
export function UndoDialog({ row, close }: Props) {
  const submission = useSubmission();
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
  const submit = (form: FormData) =>
    submission.run(async () => {
      if (isConflict && (await hasNewer())) return;
      try {
        await sendUndo(row, String(form.get("reason")).trim(), isConflict);
      } catch (failure) {
        const changes = isConflictError(failure) ? await listSince(row).catch(() => []) : [];
        if (changes.length === 0) throw failure;
        since.value = changes;
        return;
      }
      const text = `${name} is back at ${formatCount(quantity)}, ${capitalized(status)}`;
      announce(`Undone. ${text}`);
      showSuccess(text);
      close();
    });
  const force = `Set it to ${formatCount(quantity)}, ${capitalized(status)}`;
  return (
    <Dialog title={`Undo change ${changeNumber(row.seq)}`} close={close} isWide={isConflict}>
      <DialogForm
        submission={submission}
        submit={submit}
        action={isConflict ? force : "Undo"}
        isDangerous={isConflict}
        cancel={close}
        cancelText={isConflict ? "Keep the stock as it is" : "Cancel"}
      >
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
        <TextField name="reason" label="Reason (optional)" lengthMax={reasonCharactersMax} />
      </DialogForm>
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
