import { useSignal } from "@preact/signals";
import { messageOf } from "../api.ts";
import { capitalized } from "../parts/capitalized.ts";
import { formatCount } from "../parts/numbers.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import { hrefOf } from "../router.ts";
import { showSuccess } from "../toasts.ts";
import { type Pet, statuses } from "../types.ts";
import { addPet, changePet, readPet } from "./pet-fields.ts";
import { reasonCharactersMax } from "./reasons.ts";
import { RemovePet } from "./remove-pet.tsx";

interface Props {
  /** Undefined for a new pet. */
  readonly pet: Pet | undefined;
  readonly close: () => void;
}

/** The fields of a pet. Stock is changed in the list, where its history is kept in view. */
export function PetForm({ pet, close }: Props) {
  const error = useSignal("");
  const isBusy = useSignal(false);
  const isRemoving = useSignal(false);
  if (pet && isRemoving.value) {
    return <RemovePet pet={pet} close={close} back={() => (isRemoving.value = false)} />;
  }

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const fields = readPet(new FormData(event.currentTarget as HTMLFormElement), pet === undefined);
    error.value = fields.error;
    if (fields.error !== "") return;
    isBusy.value = true;
    try {
      const { name } = await (pet ? changePet(pet.petId, fields) : addPet(fields));
      showSuccess(pet ? `Saved ${name}` : `Added ${name}`);
      close();
    } catch (failure) {
      error.value = messageOf(failure);
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <form class="stack" novalidate onSubmit={submit}>
      {!pet && (
        <Field name="petId" label="Id" hint="A whole number that no other pet has." isRequired />
      )}
      <Field name="name" label="Name" value={pet?.name} isRequired />
      <Field name="category" label="Category" value={pet?.category ?? ""} />
      <Field name="tags" label="Tags" value={pet?.tags.join(", ")} hint="Separated by commas." />
      <div class="field">
        <label for="pet-photoUrls">Photo URLs</label>
        <textarea
          id="pet-photoUrls"
          name="photoUrls"
          class="input"
          rows={2}
          aria-describedby="pet-photoUrls-hint"
          defaultValue={pet?.photoUrls.join("\n")}
        />
        <p class="hint" id="pet-photoUrls-hint">
          One per line.
        </p>
      </div>
      {!pet && <NewStock />}
      {pet && <Facts pet={pet} />}
      <p class="field-error" role="alert">
        {error.value}
      </p>
      <div class="dialog-actions">
        {pet && (
          <>
            <button type="button" class="button quiet" onClick={() => (isRemoving.value = true)}>
              Remove…
            </button>
            <span class="spacer" />
          </>
        )}
        <button type="button" class="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={isBusy.value}>
          {pet ? "Save" : "Add pet"}
        </button>
      </div>
    </form>
  );
}

function NewStock() {
  return (
    <>
      <div class="row pair">
        <Field name="quantity" label="Quantity" value="0" isNumber />
        <div class="field">
          <label for="pet-status">Status</label>
          <select id="pet-status" name="status" class="select status-select">
            {statuses.map((status) => (
              <option key={status} value={status}>
                {capitalized(status)}
              </option>
            ))}
          </select>
        </div>
      </div>
      <Field name="reason" label="Reason (optional)" lengthMax={reasonCharactersMax} />
    </>
  );
}

function Facts({ pet }: { readonly pet: Pet }) {
  return (
    <p class="row small muted">
      <span>
        Id <span class="mono">{pet.petId}</span>
      </span>
      <span>
        Quantity {formatCount(pet.quantity)} <StatusBadge status={pet.status} />
      </span>
      <a href={hrefOf(`/history/${pet.petId}`)}>History</a>
    </p>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly isNumber?: boolean;
  readonly lengthMax?: number;
}

function Field({ name, label, value = "", hint, isRequired, isNumber, lengthMax }: FieldProps) {
  const id = `pet-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        class="input"
        autocomplete="off"
        required={isRequired}
        inputMode={isNumber || name === "petId" ? "numeric" : "text"}
        maxLength={lengthMax}
        aria-describedby={hint ? `${id}-hint` : undefined}
        defaultValue={value}
      />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
