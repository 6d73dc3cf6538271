import { useSignal } from "@preact/signals";
import { type RequestOptions, request } from "../client/api.ts";
import type { Undone } from "../client/types.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { ChoiceList } from "../parts/choices.tsx";
import { FormDialog } from "../parts/dialog-form.tsx";
import { ReasonField } from "../parts/fields.tsx";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { PetName } from "../parts/names.tsx";
import { countOf } from "../texts/formats.ts";
import { StockChange } from "./stock-change.tsx";

interface Props {
  /** The query of a filter. The operation has the same one. */
  readonly query: string;
  readonly close: () => void;
}

/** Shows what an undo of many changes would do, and asks. */
export function UndoTogether({ query, close }: Props) {
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
