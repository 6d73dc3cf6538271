import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import { may } from "../client/session.ts";
import type { PetDetails } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { hrefOf, navigate, place } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Facts as FactList } from "../parts/card.tsx";
import { SelectField } from "../parts/choices.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { ReasonField, TextField } from "../parts/fields.tsx";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { Name } from "../parts/names.tsx";
import { StatusBadge, statusChoices } from "../parts/status.tsx";
import { formatCount } from "../texts/formats.ts";
import {
  addPet,
  changePet,
  hintOf,
  isOneLine,
  petFields,
  removePet,
  textOf,
} from "./pet-fields.ts";
import { closePetDialog } from "./state.ts";

/** Adds a pet, or shows and changes the details of one. */
export function PetDialog({ petId }: { readonly petId: string | undefined }) {
  if (petId !== undefined) return <KnownPet key={petId} petId={petId} />;
  return (
    <Dialog title="Add a pet" close={close}>
      <PetForm pet={undefined} close={close} />
    </Dialog>
  );
}

function KnownPet({ petId }: { readonly petId: string }) {
  const source = useLoaded((signal) => request<PetDetails>(`/pets/${petId}`, { signal }), [petId]);
  const state = source.state.value;
  return (
    <Dialog title={state.kind === "ready" ? state.value.name : `Pet ${petId}`} close={close}>
      <WhenLoaded source={source}>{(pet) => <PetForm pet={pet} close={close} />}</WhenLoaded>
    </Dialog>
  );
}

function close(): void {
  closePetDialog();
  if (/^\/stock\/-?\d+$/.test(place.value.path)) navigate("/stock", { replace: true });
}

interface Props {
  /** Undefined for a new pet. */
  readonly pet: PetDetails | undefined;
  readonly close: () => void;
}

/** The fields of a pet. Stock is changed in the list, where its history is kept in view. */
function PetForm({ pet, close }: Props) {
  const isRemoving = useSignal(false);
  if (pet && isRemoving.value) {
    return <RemovePet pet={pet} close={close} back={() => (isRemoving.value = false)} />;
  }

  if (pet && !may("clerk")) {
    return <FactList facts={petFields.map((field) => [field.label, textOf(field, pet)])} />;
  }

  async function submit(form: FormData): Promise<void> {
    const { name } = await (pet ? changePet(pet, form) : addPet(form));
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
          <Button kind="quiet" onClick={() => (isRemoving.value = true)}>
            Remove…
          </Button>
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
          isBarcode={field.name === "barcode"}
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
        <SelectField name="status" label="Status" class="status-select" choices={statusChoices} />
      </div>
      <ReasonField />
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

interface RemovalProps {
  readonly pet: PetDetails;
  readonly close: () => void;
  readonly back: () => void;
}

/** Asks before a pet is removed with its entry. */
function RemovePet({ pet, close, back }: RemovalProps) {
  async function submit(form: FormData): Promise<void> {
    await removePet(pet, String(form.get("reason")).trim());
    showSuccess(`Removed ${pet.name}`);
    close();
  }
  return (
    <DialogForm submit={submit} action="Remove" isDangerous close={back} cancelText="Back">
      <p>
        Remove <Name>{pet.name}</Name> with its stock of {formatCount(pet.quantity)}? Its history
        stays in the ledger.
      </p>
      <ReasonField />
    </DialogForm>
  );
}
