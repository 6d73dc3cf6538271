import { useSignal } from "@preact/signals";
import { type PetDetails, petStatusValues } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { showSuccess } from "../page/toasts.ts";
import { DialogForm } from "../parts/dialog-form.tsx";
import { reasonCharactersMax } from "../parts/reasons.ts";
import { StatusBadge } from "../parts/status-badge.tsx";
import { TextField } from "../parts/text-field.tsx";
import { capitalized } from "../texts/capitalized.ts";
import { formatCount } from "../texts/numbers.ts";
import { addPet, changePet, hintOf, isOneLine, petFields, readPet, textOf } from "./pet-fields.ts";
import { RemovePet } from "./remove-pet.tsx";

interface Props {
  /** Undefined for a new pet. */
  readonly pet: PetDetails | undefined;
  readonly close: () => void;
}

/** The fields of a pet. Stock is changed in the list, where its history is kept in view. */
export function PetForm({ pet, close }: Props) {
  const isRemoving = useSignal(false);
  if (pet && isRemoving.value) {
    return <RemovePet pet={pet} close={close} back={() => (isRemoving.value = false)} />;
  }

  async function submit(form: FormData): Promise<void> {
    const fields = readPet(form, pet === undefined);
    const { name } = await (pet ? changePet(pet, fields) : addPet(fields));
    showSuccess(pet ? `Saved ${name}` : `Added ${name}`);
    close();
  }

  return (
    <DialogForm
      submit={submit}
      action={pet ? "Save" : "Add pet"}
      close={close}
      aside={
        pet && (
          <button type="button" class="button quiet" onClick={() => (isRemoving.value = true)}>
            Remove…
          </button>
        )
      }
    >
      {!pet && (
        <TextField
          name="petId"
          label="Id"
          hint="A whole number that no other pet has."
          inputMode="numeric"
          isRequired
        />
      )}
      {petFields.map((field) => (
        <TextField
          key={field.name}
          name={field.name}
          label={field.label}
          value={textOf(field, pet)}
          hint={hintOf(field)}
          inputMode={field.kind === "number" ? "numeric" : "text"}
          isRequired={field.isRequired}
          rows={isOneLine(field) ? 1 : 2}
        />
      ))}
      {!pet && <NewStock />}
      {pet && <Facts pet={pet} />}
    </DialogForm>
  );
}

function NewStock() {
  return (
    <>
      <div class="row pair">
        <TextField name="quantity" label="Quantity" value="0" inputMode="numeric" />
        <div class="field">
          <label for="pet-status">Status</label>
          <select id="pet-status" name="status" class="select status-select">
            {petStatusValues.map((status) => (
              <option key={status} value={status}>
                {capitalized(status)}
              </option>
            ))}
          </select>
        </div>
      </div>
      <TextField name="reason" label="Reason (optional)" lengthMax={reasonCharactersMax} />
    </>
  );
}

function Facts({ pet }: { readonly pet: PetDetails }) {
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
