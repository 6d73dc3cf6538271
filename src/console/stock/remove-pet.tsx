import type { Pet } from "../client/types.ts";
import { showSuccess } from "../page/toasts.ts";
import { DialogForm } from "../parts/dialog-form.tsx";
import { reasonCharactersMax } from "../parts/reasons.ts";
import { useSubmission } from "../parts/submission.ts";
import { TextField } from "../parts/text-field.tsx";
import { formatCount } from "../texts/numbers.ts";
import { removePet } from "./pet-fields.ts";

interface Props {
  readonly pet: Pet;
  readonly close: () => void;
  readonly back: () => void;
}

/** Asks before a pet is removed with its entry. */
export function RemovePet({ pet, close, back }: Props) {
  const submission = useSubmission();
  const submit = (form: FormData) =>
    submission.run(async () => {
      await removePet(pet, String(form.get("reason")).trim());
      showSuccess(`Removed ${pet.name}`);
      close();
    });
  return (
    <DialogForm
      submission={submission}
      submit={submit}
      action="Remove"
      isDangerous
      cancel={back}
      cancelText="Back"
    >
      <p>
        Remove{" "}
        <bdi>
          <strong>{pet.name}</strong>
        </bdi>{" "}
        with its stock of {formatCount(pet.quantity)}? Its history stays in the ledger.
      </p>
      <TextField name="reason" label="Reason (optional)" lengthMax={reasonCharactersMax} />
    </DialogForm>
  );
}
