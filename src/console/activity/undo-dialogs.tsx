import { useSignal } from "@preact/signals";
import { ApiError, type RequestOptions, request } from "../client/api.ts";
import { findPetName } from "../client/pet-names.ts";
import type { LedgerRow, Undone } from "../client/types.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { ChoiceList } from "../parts/choices.tsx";
import { FormDialog } from "../parts/dialog-form.tsx";
import { ReasonField } from "../parts/fields.tsx";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { Name, PetName } from "../parts/names.tsx";
import { whoOf } from "../parts/origins.ts";
import { Time } from "../parts/time.tsx";
import { capitalized, changeNumber, countOf, formatCount } from "../texts/formats.ts";
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

interface TogetherProps {
  /** The query of a filter. The operation has the same one. */
  readonly query: string;
  readonly close: () => void;
}

/** Shows what an undo of many changes would do, and asks. */
export function UndoTogether({ query, close }: TogetherProps) {
  const force = useSignal(false);
  const undo = (parameters: string, options: RequestOptions) =>
    request<Undone>(`/changes/undo${query}&${parameters}`, { method: "POST", ...options });
  const source = useLoaded((signal) => undo("dryRun=true", { signal }));
  const { value: state } = source.state;
  const { asOf, undone = 0, changed = 0 } = state.kind === "ready" ? state.value : {};
  const total = undone + (force.value ? changed : 0);
  async function submit(form: FormData): Promise<void> {
    if (total === 0) return close();
    const reason = String(form.get("reason")).trim() || undefined;
    const result = await undo(`asOf=${asOf}`, { body: { reason, force: force.value } });
    const text = `${countOf(result.undone, "pet")} undone`;
    announce(text);
    showSuccess(text);
    close();
  }
  return (
    <FormDialog
      title="Undo together"
      close={close}
      isWide
      submit={submit}
      action={total === 0 ? "Close" : `Undo ${countOf(total, "pet")}`}
      isDangerous={force.value}
    >
      <WhenLoaded source={source}>
        {({ rows, leftOut, pets }) => (
          <>
            <p>
              {countOf(rows, "change")} found. {countOf(undone, "pet")} can go back to the earlier
              stock. {leftOut > 0 && `${countOf(leftOut, "pet")} left out.`}
            </p>
            {changed > 0 && (
              <ChoiceList
                legend={`${countOf(changed, "pet")} changed since`}
                type="checkbox"
                name="force"
                choices={[["force", "Take back these changes too, and keep what happened since"]]}
                choose={() => (force.value = !force.value)}
              />
            )}
            <ul class="stack undo-pets">
              {pets.map(({ petId, before, after, why }) => (
                <li key={petId}>
                  <PetName petId={petId} /> {after && <StockChange before={before} after={after} />}
                  <div class="small muted">{why}</div>
                </li>
              ))}
            </ul>
            {undone + changed + leftOut > pets.length && <p class="muted small">And more pets.</p>}
          </>
        )}
      </WhenLoaded>
      {total > 0 && <ReasonField />}
    </FormDialog>
  );
}
