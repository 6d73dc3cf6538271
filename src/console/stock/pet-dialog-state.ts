import { signal } from "@preact/signals";

/** The pet whose details are open; `petId` is undefined for a new one. */
export const petDialog = signal<{ readonly petId: string | undefined } | undefined>(undefined);

export function openPetDialog(petId: string | undefined): void {
  petDialog.value = { petId };
}

export function closePetDialog(): void {
  petDialog.value = undefined;
}
