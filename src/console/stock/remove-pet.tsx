import { useSignal } from "@preact/signals";
import { messageOf } from "../api.ts";
import { formatCount } from "../parts/numbers.ts";
import { showSuccess } from "../toasts.ts";
import type { Pet } from "../types.ts";
import { removePet } from "./pet-fields.ts";
import { reasonCharactersMax } from "./reasons.ts";

interface Props {
  readonly pet: Pet;
  readonly close: () => void;
  readonly back: () => void;
}

/** Asks before a pet is removed with its entry. */
export function RemovePet({ pet, close, back }: Props) {
  const reason = useSignal("");
  const error = useSignal("");
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    try {
      await removePet(pet, reason.value.trim());
      showSuccess(`Removed ${pet.name}`);
      close();
    } catch (failure) {
      error.value = messageOf(failure);
    }
  }
  return (
    <form class="stack" novalidate onSubmit={submit}>
      <p>
        Remove{" "}
        <bdi>
          <strong>{pet.name}</strong>
        </bdi>{" "}
        with its stock of {formatCount(pet.quantity)}? Its history stays in the ledger.
      </p>
      <div class="field">
        <label for="remove-reason">Reason (optional)</label>
        <input
          id="remove-reason"
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
        <button type="button" class="button" onClick={back}>
          Back
        </button>
        <button type="submit" class="button danger">
          Remove
        </button>
      </div>
    </form>
  );
}
