import type { PetDetails } from "../client/types.ts";
import { showSuccess } from "../page/messages.ts";
import { DialogForm } from "../parts/dialog-form.tsx";
import { Name } from "../parts/names.tsx";
import { ReasonField } from "../parts/reason-field.tsx";
import { formatCount } from "../texts/formats.ts";
import { removePet } from "./pet-fields.ts";

interface Props {
  readonly pet: PetDetails;
  readonly close: () => void;
  readonly back: () => void;
}

/** Asks before a pet is removed with its entry. */
export function RemovePet({ pet, close, back }: Props) {
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
