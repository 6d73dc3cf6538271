import { useSignal } from "@preact/signals";
import { ApiError, request } from "../client/api.ts";
import type { UndoCounts, UndoneChanges } from "../client/types.ts";
import { announce, showSuccess } from "../page/messages.ts";
import { ChoiceList } from "../parts/choices.tsx";
import { FormDialog } from "../parts/dialog-form.tsx";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { PetName } from "../parts/names.tsx";
import { ReasonField } from "../parts/reason-field.tsx";
import { capitalized, countOf } from "../texts/formats.ts";
import { StockChange } from "./stock-change.tsx";

interface Props {
  /** As in the body of the request. */
  readonly selection: object;
  readonly close: () => void;
}

/** Shows what an undo of many changes would do, and asks. */
export function UndoTogether({ selection, close }: Props) {
  const hasChanged = useSignal(false);
  const includesChanged = useSignal(false);
  const undo = (body: object, signal?: AbortSignal) =>
    request<UndoneChanges>("/changes/undo", {
      method: "POST",
      body: { ...selection, ...body },
      ...(signal && { signal }),
    });
  const source = useLoaded((signal) => undo({ dryRun: true }, signal));
  const { value: state } = source.state;
  const preview = state.kind === "ready" ? state.value : undefined;
  const { unchanged = 0, changed = 0 } = preview?.counts ?? {};
  const count = unchanged + (includesChanged.value ? changed : 0);
  async function submit(form: FormData): Promise<void> {
    if (count === 0) return close();
    try {
      const reason = String(form.get("reason")).trim() || undefined;
      const include = includesChanged.value ? "all" : "unchanged";
      const { undone } = await undo({ include, reason, asOf: preview!.asOf });
      const text = `${countOf(undone, "pet")} undone`;
      announce(text);
      showSuccess(text);
      close();
    } catch (failure) {
      if (!(failure instanceof ApiError && failure.code === "version_conflict")) throw failure;
      hasChanged.value = true;
      await source.reload();
    }
  }
  return (
    <FormDialog
      title="Undo together"
      close={close}
      isWide
      submit={submit}
      action={count === 0 ? "Close" : `Undo ${countOf(count, "pet")}`}
      isDangerous={includesChanged.value}
    >
      {hasChanged.value && (
        <p role="alert">A pet has changed in the meantime. Nothing was undone. Look again.</p>
      )}
      <WhenLoaded source={source}>
        {({ rows, pets, counts }) => (
          <>
            <p>
              {countOf(rows, "change")} of {countOf(sumOf(counts), "pet")}.{" "}
              {countOf(counts.unchanged, "pet")} can go back to the earlier stock.
            </p>
            {counts.changed > 0 && (
              <ChoiceList
                legend={`${countOf(counts.changed, "pet")} changed since`}
                type="radio"
                name="include"
                choices={[
                  ["unchanged", "Leave them as they are"],
                  ["all", "Take back only these changes, and keep what happened since"],
                ]}
                isChosen={(value) => (value === "all") === includesChanged.value}
                choose={(value) => (includesChanged.value = value === "all")}
              />
            )}
            <ul class="stack undo-pets">
              {pets.map((pet) => (
                <li key={pet.petId}>
                  <PetName petId={pet.petId} />{" "}
                  {pet.to && <StockChange before={pet.from} after={pet.to} />}
                  {pet.mark !== "unchanged" && (
                    <div class="small muted">{capitalized(pet.why)}</div>
                  )}
                </li>
              ))}
            </ul>
            {sumOf(counts) > pets.length && <p class="muted small">And more pets.</p>}
          </>
        )}
      </WhenLoaded>
      {count > 0 && <ReasonField />}
    </FormDialog>
  );
}

function sumOf(counts: UndoCounts): number {
  return Object.values<number>({ ...counts }).reduce((sum, count) => sum + count, 0);
}
